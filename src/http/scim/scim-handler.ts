/**
 * SCIM 2.0 (RFC 7643, 7644) at `/scim/v2`: the program of a company creates, changes and deactivates users and groups. A caller is an API key with
 * `scim_view`, `scim_create`, `scim_update` or `scim_remove`. Replies and errors have the form of the standard.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access } from '../../access/access.ts'
import type { Provisioning, ScimList } from '../../identity/scim/provisioning.ts'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { ManagementScope } from '../../shared/management-scopes.ts'
import { callerOf, nothingHere, requireScope } from '../server/authenticate.ts'
import type { App, RouteFamily, RouteTools } from '../server/route-family.ts'

const ROOT = '/scim/v2'
const TYPE = 'application/scim+json; charset=utf-8'
const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

const scopes: Readonly<Record<string, ManagementScope>> = {
  GET: 'scim_view',
  POST: 'scim_create',
  PUT: 'scim_update',
  PATCH: 'scim_update',
  DELETE: 'scim_remove',
}

export function scimHandler({ provision }: Pick<Access, 'provision'>): RouteFamily {
  return (app, tools) => {
    const options = routeOptions(tools)
    discoveryRoutes(app, options)
    userRoutes(app, options, provision)
    groupRoutes(app, options, provision)
    app.all(`${ROOT}/*`, options, async ({ method }) => {
      throw nothingHere(method)
    })
  }
}

type Options = ReturnType<typeof routeOptions>
type Provision = <T>(work: (services: Provisioning) => Promise<T>) => Promise<T>

function routeOptions(tools: RouteTools) {
  return {
    config: { permission: 'by-trigger', style: 'scim', entityTag: false, bodyBytes: 'setting' },
    schema: { hide: true },
    /** Before a byte of the body is read. A key and no session: no browser may be led here. */
    async onRequest(request: FastifyRequest) {
      const identity = await tools.identify(request)
      if (identity?.key === undefined)
        throw new QuoinError(
          'INVALID_ACCESS_TOKEN',
          'SCIM needs an API key with scopes of scim. Make one for a user of its own and send it as "Authorization: Bearer".',
        )
      requireScope(identity, scopes[request.method === 'HEAD' ? 'GET' : request.method] ?? 'scim_update')
    },
  } as const
}

function discoveryRoutes(app: App, options: Options): void {
  const load = () => import('./scim-discovery.ts')
  app.get(`${ROOT}/ServiceProviderConfig`, options, async (_, reply) =>
    send(reply, 200, (await load()).serviceProviderConfig),
  )
  for (const [path, name] of [
    ['ResourceTypes', 'resourceTypes'],
    ['Schemas', 'schemas'],
  ] as const) {
    app.get(`${ROOT}/${path}`, options, async (_, reply) => {
      const all = (await load())[name]
      return send(
        reply,
        200,
        listOf({ totalResults: all.length, startIndex: 1, itemsPerPage: all.length, Resources: [...all] }),
      )
    })
    app.get(`${ROOT}/${path}/:id`, options, async ({ params }, reply) => {
      const id = textOf(params, 'id')
      const found = (await load())[name].find((one) => one.id === id)
      if (!found) throw new QuoinError('NOT_FOUND', `There is no ${id.slice(0, 100)} among ${path}.`)
      return send(reply, 200, found)
    })
  }
}

function userRoutes(app: App, options: Options, provision: Provision): void {
  const path = `${ROOT}/Users`
  app.get(path, options, async (request, reply) =>
    send(
      reply,
      200,
      listOf(await provision(({ users }) => users.list(listIn(request))), selectionIn(request)),
    ),
  )
  app.post(path, options, async (request, reply) =>
    sendCreated(reply, await provision(({ users }) => users.create(request.body, callerOf(request)))),
  )
  app.get(`${path}/:id`, options, async (request, reply) =>
    sendOne(request, reply, await provision(({ users }) => users.get(idIn(request)))),
  )
  app.put(`${path}/:id`, options, async (request, reply) => {
    const { body } = request
    const work = ({ users }: Provisioning) =>
      users.replace(idIn(request), body, callerOf(request), ifMatch(request))
    return sendOne(request, reply, await provision(work))
  })
  app.patch(`${path}/:id`, options, async (request, reply) => {
    const { body } = request
    const work = ({ users }: Provisioning) =>
      users.patch(idIn(request), body, callerOf(request), ifMatch(request))
    return sendOne(request, reply, await provision(work))
  })
  app.delete(`${path}/:id`, options, async (request, reply) => {
    await provision(({ users }) => users.remove(idIn(request), callerOf(request), ifMatch(request)))
    return reply.status(204).send()
  })
}

function groupRoutes(app: App, options: Options, provision: Provision): void {
  const path = `${ROOT}/Groups`
  app.get(path, options, async (request, reply) =>
    send(
      reply,
      200,
      listOf(await provision(({ groups }) => groups.list(listIn(request))), selectionIn(request)),
    ),
  )
  app.post(path, options, async (request, reply) =>
    sendCreated(reply, await provision(({ groups }) => groups.create(request.body, callerOf(request)))),
  )
  app.get(`${path}/:id`, options, async (request, reply) => {
    const page = selectionIn(request).leavesOut('members') ? undefined : listIn(request)
    return sendOne(request, reply, await provision(({ groups }) => groups.get(idIn(request), page)))
  })
  app.put(`${path}/:id`, options, async (request, reply) => {
    const { body } = request
    const work = ({ groups }: Provisioning) =>
      groups.replace(idIn(request), body, callerOf(request), ifMatch(request))
    return sendOne(request, reply, await provision(work))
  })
  // Without the group: it may have any number of members.
  app.patch(`${path}/:id`, options, async (request, reply) => {
    const { body } = request
    await provision(({ groups }) => groups.patch(idIn(request), body, callerOf(request), ifMatch(request)))
    return reply.status(204).send()
  })
  app.delete(`${path}/:id`, options, async (request, reply) => {
    await provision(({ groups }) => groups.remove(idIn(request), callerOf(request), ifMatch(request)))
    return reply.status(204).send()
  })
}

function textOf(object: unknown, name: string): string {
  return parameterOf(object, name) ?? ''
}

/** Of a parameter that comes twice, the last. */
function parameterOf(object: unknown, name: string): string | undefined {
  const values: unknown[] = isJsonObject(object) && Object.hasOwn(object, name) ? [object[name]].flat() : []
  const value = values.at(-1)
  return typeof value === 'string' ? value : undefined
}

function idIn({ params }: FastifyRequest): string {
  return textOf(params, 'id')
}

function listIn({ query }: FastifyRequest): ScimList {
  return {
    filter: parameterOf(query, 'filter') || undefined,
    startIndex: parameterOf(query, 'startIndex'),
    count: parameterOf(query, 'count'),
    cursor: parameterOf(query, 'cursor'),
  }
}

interface Selection {
  leavesOut(attribute: string): boolean
  of(resource: JsonObject): JsonObject
}

/** What `attributes` and `excludedAttributes` leave of a resource; parts of an attribute count as the whole of it. */
function selectionIn({ query }: FastifyRequest): Selection {
  const names = (parameter: string) => {
    const texts = textOf(query, parameter).toLowerCase().split(',', 100)
    const attributes = texts.map(
      (text) =>
        text
          .trim()
          .replace(/^urn:.*:/, '')
          .split('.', 1)[0] ?? '',
    )
    return new Set(attributes.filter((name) => name !== ''))
  }
  const [only, without] = [names('attributes'), names('excludedAttributes')]
  const leavesOut = (attribute: string) => {
    const name = attribute.toLowerCase()
    if (name === 'id' || name === 'schemas') return false
    return without.has(name) || (only.size > 0 && !only.has(name))
  }
  return {
    leavesOut,
    of: (resource) => Object.fromEntries(Object.entries(resource).filter(([name]) => !leavesOut(name))),
  }
}

function listOf({ Resources: resources, ...about }: JsonObject, selection?: Selection): JsonObject {
  const all = Array.isArray(resources) ? resources.filter(isJsonObject) : []
  return { schemas: [LIST_SCHEMA], ...about, Resources: selection ? all.map(selection.of) : all }
}

function send(reply: FastifyReply, status: number, body: JsonObject) {
  return reply.status(status).type(TYPE).serializer(JSON.stringify).send(body)
}

function sendCreated(reply: FastifyReply, resource: JsonObject) {
  const { location, version } = metaIn(resource)
  return send(reply.headers({ location, etag: version }), 201, resource)
}

function sendOne(request: FastifyRequest, reply: FastifyReply, resource: JsonObject) {
  const { version } = metaIn(resource)
  reply.header('etag', version)
  const known = request.method === 'GET' ? request.headers['if-none-match'] : undefined
  if (known !== undefined && names(known, version)) return reply.status(304).send()
  return send(reply, 200, selectionIn(request).of(resource))
}

function metaIn({ meta }: JsonObject): { readonly location: string; readonly version: string } {
  return { location: textOf(meta, 'location'), version: textOf(meta, 'version') }
}

/** A list of entity tags, weak or not; `*` is every one. */
function names(header: string, version: string): boolean {
  const strong = (tag: string) => tag.trim().replace(/^W\//, '')
  return header.split(',', 100).some((tag) => tag.trim() === '*' || strong(tag) === strong(version))
}

function ifMatch({ headers }: FastifyRequest): (version: string) => void {
  const known = headers['if-match']
  return (version) => {
    if (known !== undefined && !names(known, version))
      throw new QuoinError('PRECONDITION_FAILED', 'The resource was changed meanwhile. Read it again.')
  }
}
