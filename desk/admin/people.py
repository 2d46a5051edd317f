"""Accounts and groups. A lead reads them; changing them is for superusers, since it decides who may do what."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import display, register
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from rest_framework.authtoken.models import Token

from desk.admin.read_only import BoundedAdmin
from desk.groups import GROUPS
from desk.names import full_name
from desk.site import site
from intake.shop_clock import exact_moment

# What only those see of an account who may change it.
FOR_CHANGING = frozenset({"password", "revoke_token"})
FILLED_BY_THE_DESK = (
    "The desk fills this group anew at every update, so nothing can be changed here: it would come back. For people who"
    " shall do less, or more, make a group of your own and move them there."
)


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
    readonly_fields = ("api_token", "revoke_token")
    fieldsets = (*(UserAdmin.fieldsets or ()), ("HTTP API", {"fields": ("api_token", "revoke_token")}))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.revoke_token_view)
        return [path("<id>/revoke-token/", view, name="auth_user_revoke_token"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Who may only read an account sees nothing of its password, nor a button that would be refused."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(name, {**options, "fields": _to_read(options["fields"])}) for name, options in fieldsets]

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

    @display(description="API token")
    def api_token(self, user: User) -> str:
        token = Token.objects.filter(user=user).first()
        return f"There is one since {exact_moment(token.created)}." if token else "There is none."

    @display(description="revoke it")
    def revoke_token(self, user: User) -> str:
        if not Token.objects.filter(user=user).exists():
            return "There is nothing to revoke."
        address = reverse("admin:auth_user_revoke_token", args=[user.pk])
        return format_html('<a href="{}">Revoke the token</a> Setting another password does it too.', address)

    def revoke_token_view(self, request: HttpRequest, id: str) -> HttpResponse:
        person = self.get_object(request, unquote(id))
        if not self.has_change_permission(request, person):
            raise PermissionDenied
        if person is None:
            raise Http404
        back = reverse("admin:auth_user_change", args=[person.pk])
        if request.method != "POST":
            context = {**self.admin_site.each_context(request), "title": "Revoke the API token", "back": back}
            context |= {"opts": self.opts, "person": person, "name": full_name(person)}
            return TemplateResponse(request, "admin/auth/user/revoke_token.html", context)
        revoked, _ = Token.objects.filter(user=person).delete()
        if revoked:
            self.log_change(request, person, "Revoked the API token.")
            messages.success(request, f"The API token of {full_name(person)} is revoked; it opens nothing any more.")
        else:
            messages.info(request, f"{full_name(person)} has no API token; nothing was done.")
        return HttpResponseRedirect(back)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        obj.email = obj.email or obj.username
        super().save_model(request, obj, form, change)


@register(Group, site=site)
class TeamAdmin(BoundedAdmin, GroupAdmin):
    """What each group may do. The desk's own groups are read here and changed by nobody."""

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return not _filled_by_the_desk(obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return not _filled_by_the_desk(obj) and super().has_delete_permission(request, obj)

    def get_fieldsets(self, request: HttpRequest, obj: Group | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if not _filled_by_the_desk(obj):
            return fieldsets
        return [(name, {**options, "description": FILLED_BY_THE_DESK}) for name, options in fieldsets]


def _filled_by_the_desk(group: Group | None) -> bool:
    return group is not None and group.name in GROUPS


def _to_read(fields: Any) -> tuple[str, ...]:
    return tuple(name for name in fields if name not in FOR_CHANGING)
