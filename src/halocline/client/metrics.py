"""Figures of tasks for Prometheus."""

from halocline.services.metrics import CONTENT_TYPE as CONTENT_TYPE, MetricsCollector as MetricsCollector
