import Type from 'typebox'
import type { LiveTable } from '../../../flows/live/live-blueprints.ts'
import type { FoundExtension } from '../../../records/extensions/extension-folder.ts'
import type { Extensions, StoredExtension } from '../../../records/extensions/extensions.ts'
import {
  type Extension,
  extensionParams,
  extensionSchema,
  removedExtensionSchema,
  switchExtensionSchema,
} from '../../../shared/api/operate/extensions.ts'
import { QuoinError } from '../../../shared/errors.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { actorOf, leftBy } from '../search-reply.ts'

const tags = ['Extensions']
const MOST_WARNINGS = 100

export interface ExtensionParts {
  readonly stored: Pick<Extensions, 'stored' | 'switchOn' | 'switchOff' | 'switchBack' | 'remove'>
  /** What can be switched on. */
  readonly inFolder: (signal: AbortSignal) => Promise<readonly FoundExtension[]>
  /** What is active. */
  readonly table: () => LiveTable
  /** Drafts with blocks of one of these types, for people. */
  readonly drafts: { naming(types: readonly string[]): Promise<readonly string[]> }
}

/** Blocks that are not part of Quoin: shown with what they may do, before one is switched on. */
export function extensionRoutes(parts: ExtensionParts): RouteFamily {
  return (app) => {
    listRoute(app, parts)
    switchRoute(app, parts)
    removeRoute(app, parts)
  }
}

function listRoute(app: App, parts: ExtensionParts): void {
  app.get(
    '/_system/extensions',
    {
      config: { permission: 'extensions_view', entityTag: false },
      schema: {
        operationId: 'listExtensions',
        summary: 'List extensions, with what they may do',
        description:
          'Those in the folder QUOIN_BLOCKS of this node, and those that were switched on. Their code was loaded in a sandbox, to read its blocks.',
        tags,
        response: { 200: Type.Array(extensionSchema) },
      },
    },
    (_request, reply) => extensionsNow(parts, leftBy(reply)),
  )
}

function switchRoute(app: App, { stored, inFolder, table }: ExtensionParts): void {
  app.put(
    '/_system/extensions/:name',
    {
      config: {
        permission: 'extensions_update',
        confirmed: true,
        errors: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'switchExtension',
        summary: 'Switch an extension on or off',
        description:
          'On: the cluster stores the code with this hash, and each node offers its blocks before the reply. Blueprints use another version from their next deploy. Off: no blueprint can be deployed with its blocks; what is deployed goes on. CONFLICT where the folder holds other code than the hash says, or the code has problems.',
        tags,
        params: extensionParams,
        body: switchExtensionSchema,
        response: { 200: extensionSchema },
      },
    },
    async (request, reply) => {
      const { name } = request.params
      const by = actorOf(request)
      const found = (await inFolder(leftBy(reply))).filter((one) => one.name === name)
      if (!request.body.on) await stored.switchOff(name, by)
      else {
        const { hash } = request.body
        const one = found.find((candidate) => candidate.hash === hash)
        if (one) await stored.switchOn(one, by)
        else if (!(await stored.switchBack(name, hash, by))) throw otherCode(name, found)
      }
      return extensionOf(name, found, stored.stored(), table())
    },
  )
}

function otherCode(name: string, [found]: readonly FoundExtension[]): QuoinError {
  return found
    ? new QuoinError(
        'CONFLICT',
        `The extension ${name} has other code than the hash says: ${found.version} with the hash ${found.hash}. Look at it again.`,
      )
    : new QuoinError('NOT_FOUND', `There is no extension ${name} in the folder QUOIN_BLOCKS.`)
}

function removeRoute(app: App, { stored, table, drafts }: ExtensionParts): void {
  app.delete(
    '/_system/extensions/:name',
    {
      config: { permission: 'extensions_remove', errors: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'removeExtension',
        summary: 'Remove an extension from the cluster',
        description:
          'All versions, with their code; the folder stays as it is. CONFLICT, with names, while it is on, while an active blueprint was deployed with it, while runs wait on a deployment with it, and while jobs wait for functions of blueprints with its blocks. Former versions of blueprints that need it can no longer be deployed. `warnings` names blueprints and drafts that still have its blocks.',
        tags,
        params: extensionParams,
        response: { 200: removedExtensionSchema },
      },
    },
    async (request) => {
      const { name } = request.params
      const types = stored.stored().flatMap((one) => (one.name === name ? one.blocks : []))
      const blueprints = await stored.remove(name, () => usesIn(table()), actorOf(request))
      const inDrafts = await drafts.naming(types)
      const warnings = [
        ...blueprints.map(
          (one) => `The blueprint ${one} has blocks of it, and cannot be deployed with them.`,
        ),
        ...inDrafts.map((one) => `A draft of ${one} has blocks of it.`),
      ]
      return { name, removed: true as const, warnings: warnings.slice(0, MOST_WARNINGS) }
    },
  )
}

async function extensionsNow({ stored, inFolder, table }: ExtensionParts, signal: AbortSignal) {
  const found = await inFolder(signal)
  const present = stored.stored()
  const names = new Set([...found, ...present].map(({ name }) => name))
  return [...names].sort().map((name) => extensionOf(name, found, present, table()))
}

function extensionOf(
  name: string,
  found: readonly FoundExtension[],
  stored: readonly StoredExtension[],
  table: LiveTable,
): Extension {
  const one = found.find((candidate) => candidate.name === name)
  const uses = usesIn(table)
  return {
    name,
    found: one ? foundOf(one) : null,
    stored: stored
      .filter((candidate) => candidate.name === name)
      .map(({ version, hash, description, permissions, on, blocks }) => ({
        ...{ version, hash, description, permissions: copied(permissions), on },
        blocks: [...blocks],
        used_by: uses.get(hash) ?? [],
      })),
  }
}

function foundOf({ version, hash, description, permissions, blocks, problems }: FoundExtension) {
  return {
    ...{ version, hash, description, permissions: copied(permissions) },
    blocks: blocks.map(({ definition: { identifier, title, summary, effects = {} } }) => ({
      ...{ identifier, title, summary },
      effects: (['reads', 'writes', 'calls'] as const).filter((effect) => effects[effect]),
    })),
    problems: [...problems],
  }
}

function copied({ hosts, read, write }: StoredExtension['permissions']) {
  return { hosts: [...hosts], read: [...read], write: [...write] }
}

/** Names of active blueprints by the hash that they were deployed with. */
function usesIn({ blueprints }: LiveTable): ReadonlyMap<string, string[]> {
  const uses = new Map<string, string[]>()
  for (const { name, extensions = {} } of blueprints.values())
    for (const { hash } of Object.values(extensions)) uses.set(hash, [...(uses.get(hash) ?? []), name])
  return uses
}
