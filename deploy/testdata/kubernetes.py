"""kubernetes.py CRD... reads manifests from standard input and prints the first error that
Kubernetes or KEDA would report. Unknown fields are errors."""
import sys

import jsonschema
import kubernetes_validate
import yaml

VERSION = "1.37"


def strict(schema):
    """Makes a schema of KEDA reject the fields that it does not name."""
    if isinstance(schema, list):
        for s in schema:
            strict(s)
    elif isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
            schema.setdefault("additionalProperties", False)
        for s in schema.values():
            strict(s)


foreign = {}
for name in sys.argv[1:]:
    spec = yaml.safe_load(open(name))["spec"]
    for v in spec["versions"]:
        schema = v["schema"]["openAPIV3Schema"]
        strict(schema)
        schema["properties"]["metadata"] = {"type": "object"}
        foreign[f"{spec['group']}/{v['name']}", spec["names"]["kind"]] = schema

count = 0
for document in yaml.safe_load_all(sys.stdin):
    count += 1
    kind = document["apiVersion"], document["kind"]
    name = f"{document['kind']} {document['metadata']['name']}"
    try:
        if kind in foreign:
            jsonschema.validate(document, foreign[kind])
        else:
            kubernetes_validate.validate(document, VERSION, strict=True)
    except Exception as e:
        sys.exit(f"{name}: {e}"[:2000])
print(count)
