"""ValidatingWebhookConfiguration: webhooks that may refuse."""

from fakekube.apis.admissionregistration.webhookconfiguration import WebhookConfigurationStrategy

STRATEGY = WebhookConfigurationStrategy(mutating=False)
