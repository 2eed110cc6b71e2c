import { isJsonObject } from '../../shared/json.ts'

/**
 * What holds schemas, with the defaults of their properties in words. Generators of clients take a property with `default` for
 * one that is always there, so a client would have to send it.
 */
export function withToldDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withToldDefaults)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'properties' && isJsonObject(one) ? toldProperties(one) : withToldDefaults(one),
    ]),
  )
}

function toldProperties(properties: object): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, withToldDefault(withToldDefaults(schema))]),
  )
}

function withToldDefault(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const { default: usual, description, ...others } = schema
  if (usual === undefined) return schema
  const told = `Default: \`${JSON.stringify(usual)}\`.`
  return { ...others, description: typeof description === 'string' ? `${description} ${told}` : told }
}
