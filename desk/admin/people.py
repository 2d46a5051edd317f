"""Accounts and groups. A lead reads them; changing them is for superusers, since it decides who may do what."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import display, register
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.http import HttpRequest

from desk.admin.read_only import BoundedAdmin
from desk.names import full_name
from desk.site import site


class EmailIsName(UserChangeForm):
    """The e-mail in lower case is the user name, everywhere in the shop."""

    def clean_username(self) -> str:
        return self.cleaned_data["username"].strip().lower()


class NewPersonForm(AdminUserCreationForm):
    def clean_username(self) -> str:
        self.cleaned_data["username"] = self.cleaned_data["username"].strip().lower()
        return super().clean_username()


@register(User, site=site)
class PersonAdmin(BoundedAdmin, UserAdmin):
    list_title = "People"
    form = EmailIsName
    add_form = NewPersonForm
    list_display = ("username", "name", "team", "signs_in", "last_login")
    list_filter = ("is_staff", "is_active", "groups")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Who may only read an account sees nothing of its password, nor a button that would be refused."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(name, {**options, "fields": _without_password(options["fields"])}) for name, options in fieldsets]

    @display(description="name", ordering="last_name")
    def name(self, user: User) -> str:
        return full_name(user)

    @display(description="account", ordering="is_staff")
    def signs_in(self, user: User) -> str:
        if not user.is_active:
            return "Switched off"
        return "Staff" if user.is_staff else "Customer"

    @display(description="team", empty_value="–")
    def team(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all())

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        obj.email = obj.email or obj.username
        super().save_model(request, obj, form, change)


@register(Group, site=site)
class TeamAdmin(BoundedAdmin, GroupAdmin):
    """What each group may do; `support` and `lead` are filled again after every migration."""


def _without_password(fields: Any) -> tuple[str, ...]:
    return tuple(name for name in fields if name != "password")
