"""Rows of the book: written once, never deleted; only the fields a model names may move on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NoReturn, Self, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model, covariant=True)


class AppendOnlyError(Exception):
    """Code tried to rewrite or delete what the book holds; nothing was changed."""


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """Refuses to delete rows, and to update any field that is not among its model's `CHANGEABLE`."""

    def update(self, **changes: Any) -> int:
        """Rows outside the model's `CHANGEABLE_WHILE` are left as they are. Raises AppendOnlyError."""
        book = append_only_model(self.model)
        refuse_other_fields(book, changes)
        rows = self if book.CHANGEABLE_WHILE is None else self.filter(book.CHANGEABLE_WHILE)
        return super(AppendOnlyQuerySet, rows).update(**changes)

    update.alters_data = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Row], *args: Any, **options: Any) -> list[Row]:
        """New rows only: an insert that turns into an update is an update. Raises AppendOnlyError."""
        if options.get("update_conflicts") or len(args) > 2:
            refuse_other_fields(append_only_model(self.model), options.get("update_fields") or ["any field"])
        return super().bulk_create(objs, *args, **options)

    def delete(self) -> NoReturn:
        raise _may_not_go(self.model)

    def _raw_delete(self, using: str | None) -> NoReturn:
        raise _may_not_go(self.model)


class AppendOnlyManager(models.Manager[Row]):
    def get_queryset(self) -> AppendOnlyQuerySet[Row]:
        return AppendOnlyQuerySet(self.model, using=self._db)


class AppendOnly(models.Model):
    """A model whose rows are kept for good.

    `CHANGEABLE`: the fields that may move on; `CHANGEABLE_WHILE`: only in rows for which this holds, and only by an
    update in the database, so that no stale copy is written back.
    """

    CHANGEABLE: ClassVar[frozenset[str]] = frozenset()
    CHANGEABLE_WHILE: ClassVar[models.Q | None] = None

    objects: ClassVar[AppendOnlyManager[Self]] = AppendOnlyManager()

    class Meta:
        abstract = True

    def save(
        self,
        *,
        force_insert: Any = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Inserts a new row; an existing one only with `update_fields` that may change. Raises AppendOnlyError."""
        if self._state.adding:
            force_insert = force_insert or True
        elif not force_insert:
            if update_fields is None or self.CHANGEABLE_WHILE is not None:
                raise AppendOnlyError(f"{_name(type(self))} is written once; say which fields move on.")
            update_fields = list(update_fields)
            refuse_other_fields(type(self), update_fields)
        super().save(force_insert=force_insert, force_update=force_update, using=using, update_fields=update_fields)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _may_not_go(type(self))


def append_only_model(model: type[models.Model]) -> type[AppendOnly]:
    if not issubclass(model, AppendOnly):
        raise TypeError(f"{_name(model)} is no append-only model.")
    return model


def refuse_other_fields(book: type[AppendOnly], fields: Iterable[str]) -> None:
    """Raises AppendOnlyError when a field is not among those that may move on."""
    fixed = sorted(set(fields) - book.CHANGEABLE)
    if fixed:
        raise AppendOnlyError(f"{_name(book)} is written once; {', '.join(fixed)} may not be changed.")


def _may_not_go(model: type[models.Model]) -> AppendOnlyError:
    return AppendOnlyError(f"{_name(model)} is kept for good; it may not be deleted.")


def _name(model: type[models.Model]) -> str:
    return f"A row of {model._meta.label}"
