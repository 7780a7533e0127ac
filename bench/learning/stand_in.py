"""For the benchmarks' tests: a program in the place of warptape, and the tests' own loop."""

from pathlib import Path


def write_program(folder: Path, text: str) -> str:
    program = folder / "program"
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return str(program)


def run_tests(tests: dict) -> int:
    """Runs what begins with test_, in order of name; the first failure ends it with its traceback."""
    for name, test in sorted(tests.items()):
        if name.startswith("test_"):
            test()
            print(f"ok {name}")
    return 0
