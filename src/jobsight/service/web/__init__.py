"""The service: answers for people and programs over HTTP.

`site` reads the store and asks the questions, within what a caller (`tokens`) may see; `api` and
`pages` show that over HTTP, `application` puts it together behind the checks of `guards`.
"""

__all__: list[str] = []
