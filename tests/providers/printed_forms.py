"""The forms in which models print the call of one tool, and which of them the parsers of model servers read."""

from tests.providers.markup import markup

READ = markup("read_file", path="a.py")
PRINTED = {
    "tags": READ,
    "tags in a fence": f"```xml\n{READ}\n```",
    "tags in a wrapper": f"<function_calls>\n{READ}\n</function_calls>\n",
    "an invocation": '<invoke name="read_file"><parameter name="path">a.py</parameter></invoke>\n</function_calls>',
    "a function": "<function=read_file><parameter=path>a.py</parameter></function>",
    "an object in a wrapper": '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
    "a list behind a marker": '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "special tokens": '<｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n{"path": "a.py"}<｜tool▁calls▁end｜>',
    "Kimi's section": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0<|tool_call_argument_begin|>"
        '{"path": "a.py"}<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "Kimi's call": '<|tool_call_begin|>read_file:12<|tool_call_argument_begin|>{"path": "a.py"}<|tool_call_end|>',
    "GLM's arguments": ("<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n</tool_call>"),
    "Harmony": '<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{"path": "a.py"}<|call|>',
    "Harmony's header first": (
        '<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{"path": "a.py"}'
    ),
    "a bare object": '{"name": "read_file", "arguments": {"path": "a.py"}}',
    "a bare object over several lines": '{\n  "tool": "read_file",\n  "parameters": {\n    "path": "a.py"\n  }\n}',
    "a bare object in a fence": '```json\n{"name": "read_file", "arguments": {"path": "a.py"}}\n```',
    "a function object": (
        '{"type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\": \\"a.py\\"}"}}'
    ),
    "a list of objects": '[{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "Qwen Coder's function": (
        "<tool_call>\n<function=read_file>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>"
    ),
    "Llama's function": '<function=read_file>{"path": "a.py"}</function>',
    "Llama's tag": '<|python_tag|>{"name": "read_file", "parameters": {"path": "a.py"}}<|eom_id|>',
    "Llama 4's list": '[read_file(path="a.py")]',
    "LFM's list": '<|tool_call_start|>[read_file(path="a.py")]<|tool_call_end|>',
    "Gemma's code": '```tool_code\nprint(default_api.read_file(path="a.py"))\n```',
    "plain Python": "read_file(path='a.py')",
    "plain Python with an object": 'read_file({"path": "a.py"})',
    "plain Python with a text": 'read_file("a.py")',
    "Mistral's name": '[TOOL_CALLS]read_file{"path": "a.py"}',
    "Mistral's arguments": '[TOOL_CALLS]read_file[ARGS]{"path": "a.py"}</s>',
    "Mistral's id": '[TOOL_CALLS]read_file[CALL_ID]abc123456[ARGS]{"path": "a.py"}',
    "DeepSeek 3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n"
        '```json\n{"path": "a.py"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "DeepSeek 3.1": (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "a.py"}'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    ),
    "DeepSeek 3.2": (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter name="path" string="true">a.py'
        "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    ),
    "MiniMax": (
        '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
    "Seed": ("<seed:tool_call><function=read_file><parameter=path>a.py</parameter></function></seed:tool_call>"),
    "Granite": '<|tool_call|>[{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "Phi": (
        '<|tool_call|>[{"type": "function", "function": {"name": "read_file", "arguments": {"path": "a.py"}}}]'
        "<|/tool_call|>"
    ),
    "Command R": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read_file", "parameters": {"path": "a.py"}}]'
        "<|END_ACTION|>"
    ),
    "Nemotron": '<TOOLCALL>[{"name": "read_file", "arguments": {"path": "a.py"}}]</TOOLCALL>',
    "InternLM": '<|action_start|><|plugin|>{"name": "read_file", "parameters": {"path": "a.py"}}<|action_end|>',
    "Functionary": '>>>read_file\n{"path": "a.py"}',
    "ReAct": 'Action: read_file\nAction Input: {"path": "a.py"}',
    "an action object": '```json\n{"action": "read_file", "action_input": {"path": "a.py"}}\n```',
    "a name before the object": 'read_file\n```json\n{"path": "a.py"}\n```',
    "a flat object": '{"tool": "read_file", "path": "a.py"}',
    "an object by its tool": '{"read_file": {"path": "a.py"}}',
    "single quotes": "{'name': 'read_file', 'arguments': {'path': 'a.py'}}",
    "LM Studio's request": '[TOOL_REQUEST]{"name": "read_file", "arguments": {"path": "a.py"}}[END_TOOL_REQUEST]',
    "an object with its id": '{"id": "c1", "name": "read_file", "arguments": {"path": "a.py"}}',
    "FunctionGemma": "<start_function_call>call:read_file{path:<escape>a.py<escape>}<end_function_call>",
    "Gemma 4": '<|tool_call>call:read_file{path:<|"|>a.py<|"|>}<tool_call|>',
    "Phi 4's functools": 'functools[{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "Harmony without its tokens": 'commentary to=functions.read_file json{"path": "a.py"}',
    "Harmony without its channel": 'to=functions.read_file {"path": "a.py"}',
    "Harmony's role and channel": 'assistantcommentary to=functions.read_file code {"path": "a.py"}',
    "Grok": '<xai:function_call name="read_file">\n<parameter name="path">a.py</parameter>\n</xai:function_call>',
    "a tool use by name": ('<tool_use>\n<name>read_file</name>\n<arguments>{"path": "a.py"}</arguments>\n</tool_use>'),
    "a tool use in tags": (
        "<invoke>\n<tool_name>read_file</tool_name>\n<parameters>\n<path>a.py</path>\n</parameters>\n</invoke>"
    ),
    "a tool use as an object": '<tool_use>{"name": "read_file", "input": {"path": "a.py"}}</tool_use>',
    "a call that is announced": 'Tool call: read_file(path="a.py")',
    "a call that is announced in bold": '**Tool call:** read_file({"path": "a.py"})',
    "an announced object": 'Tool call: read_file {"path": "a.py"}',
    "ReAct in a fence": 'Action: read_file\nAction Input:\n```json\n{"path": "a.py"}\n```',
    "ReAct as Python": 'Action: read_file(path="a.py")',
    "Llama's function in brackets": '<function(read_file){"path": "a.py"}</function>',
    "Llama's function with a slash": '<function/read_file>{"path": "a.py"}</function>',
    "MiniCPM": '<function name="read_file"><param name="path">a.py</param></function>',
    "MiniCPM's text": '<function name="read_file"><param name="path"><![CDATA[a.py]]></param></function>',
    "Step 3": (
        '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="read_file">'
        '<steptml:parameter name="path">a.py</steptml:parameter></steptml:invoke>'
        "<｜tool_call_end｜><｜tool_calls_end｜>"
    ),
    "Hunyuan": (
        "<tool_calls>\n<tool_call>read_file<tool_sep>\n<arg_key>path</arg_key>\n<arg_value>a.py</arg_value>\n"
        "</tool_call>\n</tool_calls>"
    ),
    "Hunyuan's open names": (
        "<tool_calls:opensource>\n<tool_call:opensource>read_file<tool_sep:opensource>\n"
        "<arg_key:opensource>path</arg_key:opensource>\n<arg_value:opensource>a.py</arg_value:opensource>\n"
        "</tool_call:opensource>\n</tool_calls:opensource>"
    ),
    "K2 Horizon": (
        "<ifm|tool_calls><ifm|tool_call>read_file\n<ifm|arg_key>path</ifm|arg_key>\n"
        "<ifm|arg_value>a.py</ifm|arg_value></ifm|tool_call></ifm|tool_calls>"
    ),
    "MiniMax 3": (
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="read_file">]<]minimax[>[<path>a.py]<]minimax[>[</path>'
        "]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>"
    ),
    "Kimi 3": (
        '<|open|>tools<|sep|><|open|>call tool="read_file" index="1"<|sep|><|open|>argument key="path" type="string"'
        "<|sep|>a.py<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
    ),
    "Solar": (
        "<|tool_call:start|>read_file\n<|tool_arg:start|>path<|tool_arg:value|>a.py<|tool_arg:end|>\n<|tool_call:end|>"
    ),
    "Solar's object": (
        '<|tool_calls|><|tool_call:begin|>0<|tool_call:name|>read_file<|tool_call:args|>{"path": "a.py"}'
        "<|tool_call:end|>"
    ),
    "GigaChat": 'function call<|role_sep|>\n{"name": "read_file", "arguments": {"path": "a.py"}}<|message_sep|>',
    "GigaChat's tags": (
        '<｜GCML｜function_calls>\n<｜GCML｜invoke name="read_file">\n<｜GCML｜parameter name="path" string="true">a.py'
        "</｜GCML｜parameter>\n</｜GCML｜invoke>\n</｜GCML｜function_calls>"
    ),
    "Muse": (
        '<atem:function_calls><atem:invoke name="read_file"><atem:parameter name="path">a.py</atem:parameter>'
        "</atem:invoke></atem:function_calls>"
    ),
    "dots": (
        '<dots_function_call>\n<invoke name="read_file">\n<parameter name="path">a.py</parameter>\n</invoke>\n'
        "</dots_function_call>"
    ),
    "LongCat": ('<longcat_tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</longcat_tool_call>'),
    "Jamba": '<tool_calls>[{"name": "read_file", "arguments": {"path": "a.py"}}]</tool_calls>',
    "Granite 20B": '<function_call> {"name": "read_file", "arguments": {"path": "a.py"}}',
    "Apertus": '<|tools_prefix|>[{"read_file": {"path": "a.py"}}]<|tools_suffix|>',
    "Inkling": (
        '<|message_model|>read_file<|content_invoke_tool_json|>{"name": "read_file", "args": {"path": "a.py"}}'
        "<|end_message|>"
    ),
    "OLMo": '<function_calls>\nread_file(path="a.py")\n</function_calls>',
    "xLAM behind its thoughts": '</think>[{"name": "read_file", "arguments": {"path": "a.py"}}]',
    "an object of calls": '{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.py"}}]}',
    "an object of one call": '{"tool_call": {"name": "read_file", "arguments": {"path": "a.py"}}}',
}

PARSERS = {
    "vLLM (vllm/tool_parsers)": {
        "apertus": "Apertus",
        "cohere_command3": "Command R",
        "cohere_command4": "Command R",
        "deepseek_v3": "DeepSeek 3",
        "deepseek_v31": "DeepSeek 3.1",
        "deepseek_v32": "DeepSeek 3.2",
        "deepseek_v4": "DeepSeek 3.2",
        "ernie45": "an object in a wrapper",
        "functiongemma": "FunctionGemma",
        "gemma4": "Gemma 4",
        "gigachat3": "GigaChat",
        "glm45": "GLM's arguments",
        "glm47": "GLM's arguments",
        "granite": "Granite",
        "granite-20b-fc": "Granite 20B",
        "granite4": "an object in a wrapper",
        "hermes": "an object in a wrapper",
        "hunyuan_a13b": "Jamba",
        "hy_v3": "Hunyuan",
        "inkling": "Inkling",
        "internlm": "InternLM",
        "jamba": "Jamba",
        "kimi_k2": "Kimi's section",
        "kimi_k3": "Kimi 3",
        "lfm2": "LFM's list",
        "llama3_json": "Llama's tag",
        "llama4_json": "a bare object",
        "llama4_pythonic": "Llama 4's list",
        "longcat": "LongCat",
        "mimo": "Qwen Coder's function",
        "minicpm5": "MiniCPM's text",
        "minimax_m2": "MiniMax",
        "minimax_m3": "MiniMax 3",
        "mistral": "Mistral's arguments",
        "olmo3": "OLMo",
        "openai": "Harmony",
        "phi4_mini_json": "Phi 4's functools",
        "poolside_v1": "GLM's arguments",
        "pythonic": "Llama 4's list",
        "qwen3_coder": "Qwen Coder's function",
        "qwen3_xml": "Qwen Coder's function",
        "seed_oss": "Seed",
        "solar_open2": "Solar",
        "step3": "Step 3",
        "step3p5": "Qwen Coder's function",
        "xlam": "xLAM behind its thoughts",
    },
    "SGLang, where it has others (srt/function_call)": {
        "dots": "dots",
        "gigachat35": "GigaChat's tags",
        "interns1": "InternLM",
        "k2_horizon": "K2 Horizon",
        "ling3": "GLM's arguments",
        "muse": "Muse",
        "qwen25": "an object in a wrapper",
        "spark25": "GLM's arguments",
        "trinity": "an object in a wrapper",
    },
    "llama.cpp, where it has others (common/chat)": {
        "FireFunction v2": "Phi 4's functools",
        "Functionary v3.1": "Llama's function",
        "Functionary v3.2": "Functionary",
        "Generic": "an object of one call",
        "Hunyuan V3": "Hunyuan's open names",
        "Kimi K3's block of JSON": "a block of JSON in Kimi 3's call",
        "Llama 3.x with builtin tools": "the tools of Llama itself",
        "Mistral Nemo": "a list behind a marker",
        "Nemotron V2": "Nemotron",
        "Solar Open": "Solar's object",
    },
}
"""The parsers of model servers, by the names that these have for them, and the form that each reads."""

LEFT_OUT = {
    "a block of JSON in Kimi 3's call": "what its template writes when a history holds arguments that do not decode",
    "the tools of Llama itself": "`brave_search.call(query=…)`: none of them is offered here",
}
