"""MutatingWebhookConfiguration: webhooks that may change what is written."""

from fakekube.apis.admissionregistration.webhookconfiguration import WebhookConfigurationStrategy

STRATEGY = WebhookConfigurationStrategy(mutating=True)
