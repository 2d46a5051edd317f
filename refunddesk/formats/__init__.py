"""How dates are written where no page says otherwise."""
