import { defineValue } from '../block.ts'

export default defineValue({
  identifier: 'httpconnection_get_params',
  title: 'Request parameters',
  words: 'Parameter {field}',
  summary:
    'What was sent in the address: the query (?status=open) and the parameters of the path (tasks/{guid}). With a field it gives that one value.',
  readsRun: true,
  readsAddress: true,
  fromRequest: true,
  in: {
    connection: {
      type: 'connection',
      help: 'The request to read. Default: the one that started the flow.',
    },
    field: { type: 'value', help: 'Name of the parameter that value gives.' },
  },
  out: {
    params: { type: 'object', help: 'Parameters of query and path. The path has precedence.' },
    query: { type: 'object', help: 'Parameters of the query. A repeated name is a list.' },
    path: { type: 'object', help: 'The parameters of the path.' },
    value: {
      type: 'value',
      help: 'The parameter named by field; the first value if it is repeated. Empty if it is missing.',
    },
  },
  settings: {},
  value({ connection, field }, context) {
    const request = connection ?? context.request
    if (!request) return {}
    const { query, path } = request
    const params = context.wired('params') ? { ...query, ...path } : undefined
    return { params, query, path, value: field === undefined ? undefined : parameterOf(query, path, field) }
  },
})

function parameterOf(
  query: Readonly<Record<string, string | readonly string[]>>,
  path: Readonly<Record<string, string>>,
  field: string,
): string | undefined {
  if (Object.hasOwn(path, field)) return path[field]
  const value = Object.hasOwn(query, field) ? query[field] : undefined
  return typeof value === 'object' ? value[0] : value
}
