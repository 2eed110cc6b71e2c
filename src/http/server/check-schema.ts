import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Convert } from 'typebox/value'
import { QuoinError } from '../../shared/errors.ts'

const MAX_FAULTS = 100

type Fault = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

/**
 * Checks bodies and query strings against the routes' schemas, and names everything that does not fit at once. Bodies are
 * taken as they are; what comes in a URL is text, so "20" is read as a number where the schema has one.
 */
export const checkSchema: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  // The library stops at 8 faults, and a value that fits no part of a union has several.
  Settings.Set({ maxErrors: MAX_FAULTS })
  // When the first request comes: most routes of a server are never asked for, and all of them are 90 ms of its start.
  let compiled: ReturnType<typeof Compile> | undefined
  return (given: unknown) => {
    compiled ??= Compile(schema)
    const check = compiled
    const value = httpPart === 'body' ? given : Convert(schema, given)
    if (check.Check(value)) return { value }
    const faults = check.Errors(value)
    return {
      error:
        httpPart === 'body'
          ? refused('INVALID_BODY', 'body', faults)
          : refused('INVALID_QUERY', 'query', faults),
    }
  }
}

function refused(
  code: 'INVALID_BODY' | 'INVALID_QUERY',
  part: 'body' | 'query',
  faults: readonly Fault[],
): QuoinError {
  const named = describe(faults)
  const fields = [...named.keys()].filter((field) => field !== '')
  return new QuoinError(code, sentence(named, `The ${part}`), fields.length === 0 ? {} : { fields })
}

/** The first fault of each field, by dotted name; '' is the whole. */
function describe(faults: readonly Fault[]): Map<string, string> {
  const named = new Map<string, string>()
  const add = (path: string, words: string) => {
    const field = path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
    if (!named.has(field)) named.set(field, words)
  }
  for (const fault of faults) {
    const { keyword, instancePath: path, params } = fault
    if (keyword === 'required')
      for (const name of params.requiredProperties) add(`${path}/${name}`, 'is missing')
    else if (keyword === 'additionalProperties')
      for (const name of params.additionalProperties) add(`${path}/${name}`, 'is unknown')
    // Comes with `additionalProperties`, which says the same for all unknown names; and around the parts of a union.
    else if (keyword !== 'boolean' && keyword !== 'anyOf') add(path, fault.message)
  }
  if (named.size === 0) for (const fault of faults) add(fault.instancePath, fault.message)
  return named
}

function sentence(named: Map<string, string>, whole: string): string {
  const words = [...named].slice(0, 5).map(([field, fault]) => `${field === '' ? whole : field} ${fault}`)
  const more = named.size > 5 ? `, and ${named.size - 5} more` : ''
  return `${words.join('; ')}${more}.`
}
