import ast
import sys
import textwrap

# How complex are functions? Parse generated modules and walk their trees.
template = textwrap.dedent(
    """
    def handler_{n}(request, database, retries={n}):
        for attempt in range(retries):
            try:
                row = database.fetch("select * from t where id = {n}")
                if row and row.status == 'open' or attempt > {n} % 3:
                    return [r * {n} for r in row if r]
            except ConnectionError as error:
                log(error, attempt)
                time.sleep(attempt)
        return None
    """
)
modules = int(sys.argv[1])
worst = 0
for m in range(modules):
    source = "".join(template.format(n=m * 50 + k) for k in range(50))
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            branches = sum(isinstance(x, (ast.If, ast.For, ast.Try, ast.BoolOp, ast.comprehension)) for x in ast.walk(node))
            worst = max(worst, branches)
print(worst)
