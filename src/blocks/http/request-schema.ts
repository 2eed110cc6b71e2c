import type { JsonValue } from '../../shared/json.ts'
import {
  type PlacedField,
  pinTypeOfField,
  type RequestPlace,
  requestFields,
} from '../../shared/request-field.ts'
import { type Listening, PinError } from '../block.ts'
import type { OutPins } from '../pin.ts'

type Method = Listening['http']['method']

/** One typed out-pin for each field. */
export function requestPins(method: Method, schema: readonly JsonValue[]): OutPins {
  return Object.fromEntries(
    requestFields(schema).map((field) => {
      const pin = { type: pinTypeOfField(field), help: `The field ${field.name} of the request.` }
      // A request by GET has no body, so all of its fields are in its address.
      return [field.name, method === 'GET' ? { ...pin, ofAddress: true } : pin]
    }),
  )
}

/** Each field with its place. Throws PinError('schema', …) for one that can be nowhere. */
export function placedFields(
  method: Method,
  uri: string,
  schema: readonly JsonValue[],
): readonly PlacedField[] {
  const inPath = new Set([...uri.matchAll(/\{([^{}.]+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name))
  const usual: RequestPlace = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  return requestFields(schema).map((field) => {
    const place = field.in ?? (inPath.has(field.name) ? 'path' : usual)
    const called = JSON.stringify(field.name)
    if (place === 'body' && method === 'GET')
      throw new PinError('schema', `has ${called} in the body, which a GET request does not have`)
    if (place === 'path' && !inPath.has(field.name))
      throw new PinError('schema', `has ${called} in the path, where the uri has no {${field.name}}`)
    if (place !== 'body' && field.type === 'object')
      throw new PinError('schema', `has the object ${called} outside the body: path and query hold text`)
    return { ...field, in: place }
  })
}
