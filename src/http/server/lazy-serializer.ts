import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>
type SerializerFactory = NonNullable<Factories['buildSerializer']>

const requireAsFastify = createRequire(import.meta.resolve('fastify'))

/**
 * Fastify's own serializer, made for a route when its first reply is sent and not at the start: most routes of a server
 * are never asked for, and all of them are 200 ms of its start and 15 MB with what makes them.
 */
export const lazySerializer: SerializerFactory = (externalSchemas, options) => {
  let compiler: ReturnType<SerializerFactory> | undefined
  return (route) => {
    let write: ((value: unknown) => string) | undefined
    return (value) => {
      compiler ??= fastifySerializer()(externalSchemas, options)
      write ??= compiler(route)
      return write(value)
    }
  }
}

function fastifySerializer(): SerializerFactory {
  const selector: () => SerializerFactory = requireAsFastify('@fastify/fast-json-stringify-compiler')
  return selector()
}
