"""What the demo shop sold. Prices and shipping in US cents, times as days before the first day of the demo."""

from __future__ import annotations

from dataclasses import dataclass

from refunddesk.demo_shop.people import AIKO, GRACE, HANNAH, LUCAS, OMAR, PRIYA, SAM, TOM, Person

CURRENCY = "USD"
SHIPPING_MINOR = 490
FREE_SHIPPING_FROM_MINOR = 5000


@dataclass(frozen=True)
class Article:
    name: str
    price_minor: int


ARTICLES = {
    "CAR-600": Article("Glass carafe, 600 ml", 3400),
    "DRP-02": Article("Ceramic pour-over dripper", 2800),
    "KTL-09": Article("Gooseneck kettle, 0.9 L", 12900),
    "GRD-C40": Article("Conical burr grinder", 24900),
    "HGR-01": Article("Hand grinder", 11900),
    "SCL-01": Article("Digital brew scale", 5900),
    "MUG-2": Article("Double-wall glass mugs, set of 2", 2400),
    "FLT-100": Article("Paper filters, 100 pack", 900),
    "TMP-58": Article("Espresso tamper", 3900),
}


@dataclass(frozen=True)
class Card:
    brand: str
    last4: str


VISA = Card("Visa", "4242")
MASTERCARD = Card("Mastercard", "4444")
AMEX = Card("Amex", "0005")


@dataclass(frozen=True)
class DemoOrder:
    """`lines`: SKU and units. `shipped` and `delivered` are None for what has not happened yet."""

    number: str
    customer: Person
    lines: tuple[tuple[str, int], ...]
    placed: int
    shipped: int | None
    delivered: int | None
    card: Card
    clock: str = "11:20"

    @property
    def goods_minor(self) -> int:
        return sum(ARTICLES[sku].price_minor * units for sku, units in self.lines)

    @property
    def shipping_minor(self) -> int:
        return 0 if self.goods_minor >= FREE_SHIPPING_FROM_MINOR else SHIPPING_MINOR


def _delivered(
    number: str,
    customer: Person,
    lines: tuple[tuple[str, int], ...],
    placed: int,
    delivered: int,
    card: Card,
    clock: str,
) -> DemoOrder:
    return DemoOrder(number, customer, lines, placed, placed - 1, delivered, card, clock)


ORDERS = (
    _delivered("PH-20417", PRIYA, (("CAR-600", 1), ("FLT-100", 2)), 8, 5, VISA, "19:42"),
    _delivered("PH-20388", PRIYA, (("KTL-09", 1),), 12, 9, VISA, "08:15"),
    _delivered("PH-19904", PRIYA, (("SCL-01", 1),), 70, 66, VISA, "21:07"),
    _delivered("PH-20402", AIKO, (("GRD-C40", 1),), 15, 12, MASTERCARD, "13:31"),
    _delivered("PH-20395", LUCAS, (("SCL-01", 1),), 17, 14, AMEX, "10:58"),
    _delivered("PH-20421", TOM, (("MUG-2", 1),), 6, 3, MASTERCARD, "18:20"),
    _delivered("PH-19870", TOM, (("HGR-01", 1),), 52, 48, MASTERCARD, "07:49"),
    _delivered("PH-20430", HANNAH, (("MUG-2", 1),), 7, 4, VISA, "20:13"),
    _delivered("PH-20433", HANNAH, (("GRD-C40", 1),), 9, 6, VISA, "12:26"),
    _delivered("PH-20436", HANNAH, (("DRP-02", 1),), 10, 7, VISA, "09:34"),
    _delivered("PH-19512", TOM, (("DRP-02", 1),), 82, 78, MASTERCARD, "16:02"),
    _delivered("PH-19733", TOM, (("TMP-58", 1),), 45, 41, MASTERCARD, "17:55"),
    _delivered("PH-18977", HANNAH, (("TMP-58", 1),), 142, 138, VISA, "14:40"),
    _delivered("PH-20105", GRACE, (("KTL-09", 1),), 39, 35, AMEX, "22:11"),
    _delivered("PH-20261", GRACE, (("CAR-600", 1), ("FLT-100", 1)), 26, 23, AMEX, "06:50"),
    _delivered("PH-19811", OMAR, (("HGR-01", 1),), 66, 62, VISA, "15:18"),
    _delivered("PH-20198", OMAR, (("MUG-2", 2),), 31, 28, VISA, "11:05"),
    _delivered("PH-20120", SAM, (("GRD-C40", 1),), 50, 46, MASTERCARD, "19:01"),
    _delivered("PH-20233", SAM, (("SCL-01", 1),), 40, 37, MASTERCARD, "10:22"),
    DemoOrder("PH-20441", PRIYA, (("GRD-C40", 1), ("FLT-100", 1)), 3, 1, None, VISA, "17:36"),
    DemoOrder("PH-20447", GRACE, (("DRP-02", 1), ("FLT-100", 3)), 0, None, None, AMEX),
)
