"""Plug-ins: what they add, and what people do with them."""

from halocline.services.plugins import ListedPlugin as ListedPlugin, PluginService as PluginService
