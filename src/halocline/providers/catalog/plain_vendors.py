"""Vendors of OpenAI's Chat API without differences: name, title, address, and the variable of the key."""

PLAIN = (
    ("fireworks-ai", "Fireworks AI", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    ("nebius", "Nebius Token Factory", "https://api.tokenfactory.nebius.com/v1", "NEBIUS_API_KEY"),
    ("sambanova", "SambaNova", "https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
    ("baseten", "Baseten", "https://inference.baseten.co/v1", "BASETEN_API_KEY"),
    ("deepinfra", "Deep Infra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    ("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    ("venice", "Venice AI", "https://api.venice.ai/api/v1", "VENICE_API_KEY"),
    ("novita-ai", "Novita AI", "https://api.novita.ai/openai", "NOVITA_API_KEY"),
    ("hyperbolic", "Hyperbolic", "https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
    ("huawei-cloud-maas", "Huawei Cloud MaaS", "https://api.modelarts-maas.com/openai/v1", "HUAWEI_CLOUD_MAAS_API_KEY"),
    ("asksage", "Ask Sage", "https://api.asksage.ai/server/openai/v1", "ASKSAGE_API_KEY"),
    ("nousresearch", "Nous Research", "https://inference-api.nousresearch.com/v1", "NOUSRESEARCH_API_KEY"),
    ("chutes", "Chutes", "https://llm.chutes.ai/v1", "CHUTES_API_KEY"),
)
