from django.contrib.admin import AdminSite

site = AdminSite(name="admin")
