import type { ApiDocument, ApiOperation, ApiSchema } from './open-api-document.ts'
import { resolved } from './open-api-document.ts'

const MAX_DEPTH = 4

/** A command to paste into a shell: the server's address in `$QUOIN`, the token in `$TOKEN`, a body with every required field. */
export function curlExample(
  path: string,
  method: string,
  operation: ApiOperation,
  document: ApiDocument,
): string {
  const lines = [`curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${address(path)}`]
  if (operation.security?.length) lines.push('-H "Authorization: Bearer $TOKEN"')
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {})
  if (type === 'application/json' && content?.schema) {
    const body = exampleOf(content.schema, document, 0)
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`)
  } else if (type === 'multipart/form-data') lines.push('-F file=@picture.png')
  return lines.join(' \\\n  ')
}

/** In double quotes the shell puts in the variable, and reads four characters in its own way. */
function address(path: string): string {
  return `"$QUOIN${path.replace(/["$`\\]/g, '\\$&')}"`
}

/** In single quotes the shell changes nothing; a single quote ends them, so it is put in between. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function exampleOf(given: ApiSchema, document: ApiDocument, depth: number): unknown {
  const schema = resolved(given, document)
  if (depth > MAX_DEPTH) return {}
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  if (choice) return exampleOf(choice, document, depth + 1)
  if (schema.properties || schema.type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([name]) => schema.required?.includes(name))
        .map(([name, field]) => [name, exampleOf(field, document, depth + 1)]),
    )
  if (schema.items) return [exampleOf(schema.items, document, depth + 1)]
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  if (type === 'boolean') return true
  return '…'
}
