import { Type } from 'typebox'
import { createBlock, stageRemoval, stageUpdate } from '../../../flows/blueprints/block-staging.ts'
import { withConfiguration } from '../../../flows/blueprints/block-uses.ts'
import { discardStaged, saveStaged } from '../../../flows/blueprints/settle-staged.ts'
import type { Flows } from '../../../flows/flows.ts'
import { getRecord } from '../../../records/records.ts'
import {
  blockSchema,
  createBlockSchema,
  updateBlockSchema,
} from '../../../shared/api/blueprints/blueprint-actions.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import { findPage } from '../../../storage/find-documents.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { resource } from '../resource.ts'
import { actorOf } from '../search-reply.ts'
import type { SearchField } from '../search-request.ts'

const tags = ['Blocks']

const searchable: readonly SearchField[] = [
  { name: 'blueprint_guid', type: 'string' },
  { name: 'type', type: 'string', text: true },
  { name: 'title', type: 'string', text: true },
  { name: 'description', type: 'string', text: true },
  { name: 'storages', type: 'string' },
  { name: 'scopes', type: 'string' },
  { name: 'is_created', type: 'boolean' },
  { name: 'unsaved.change', type: 'string' },
]

/** Blocks of blueprints, called blueprint actions here. */
export function blueprintActionRoutes(flows: Flows): RouteFamily {
  return (app) => {
    blockResource(app, flows)
    stageRemovalRoute(app, flows)
    saveStagedRoute(app, flows)
    discardStagedRoute(app, flows)
  }
}

function blockResource(app: App, { records, catalogue }: Flows): void {
  const blocks = resource(app, {
    path: '/blueprintactions',
    scopes: 'blueprintactions',
    tags,
    record: blockSchema,
    searchable,
  })
  blocks.list(
    {
      operationId: 'searchBlocks',
      summary: 'List the blocks of a blueprint',
      description: 'Filter by `blueprint_guid`.',
    },
    (requested) => findPage(records.database.session(), systemStorages.blocks, requested),
  )

  blocks.get(
    {
      operationId: 'getBlock',
      summary: "One block's full document",
    },
    (guid) => getRecord(records.database.session(), systemStorages.blocks, guid, 'block'),
  )

  blocks.create(
    {
      operationId: 'createBlock',
      summary: 'Create a block',
      description:
        'Saved at once, or only staged with `staged: true`. Impossible wires are refused; unfinished blocks are not.',
      bodyBytes: 'setting',
      body: createBlockSchema,
    },
    (body, request) => createBlock(records, catalogue, withConfiguration(body, catalogue), actorOf(request)),
  )

  blocks.update(
    {
      operationId: 'stageBlock',
      summary: 'Stage a change of a block',
      description:
        'Changes the given fields. The block has them under `unsaved` until they are saved or discarded.',
      bodyBytes: 'setting',
      body: updateBlockSchema,
    },
    (guid, body, request) => stageUpdate(records, catalogue, guid, body, actorOf(request)),
  )
}

function stageRemovalRoute(app: App, { records }: Flows): void {
  app.delete(
    '/blueprintactions/:guid',
    {
      config: { permission: 'blueprintactions_remove' },
      schema: {
        operationId: 'stageBlockRemoval',
        summary: 'Stage the removal of a block',
        description: 'A block that is only staged is removed at once.',
        tags,
        params: guidParams,
        response: { 200: blockSchema },
      },
    },
    (request) => stageRemoval(records, request.params.guid, actorOf(request)),
  )
}

function saveStagedRoute(app: App, { records }: Flows): void {
  app.post(
    '/blueprintactions/unsaved/:guid',
    {
      config: { permission: 'blueprintactions_update', bodyOptional: true },
      schema: {
        operationId: 'saveStaged',
        summary: 'Save staged changes',
        description:
          'Of one block, or of all blocks of a blueprint in one transaction. Replies with the changed blocks.',
        tags,
        params: guidParams,
        response: { 200: Type.Array(blockSchema) },
      },
    },
    (request) => saveStaged(records, request.params.guid, actorOf(request)),
  )
}

function discardStagedRoute(app: App, { records }: Flows): void {
  app.delete(
    '/blueprintactions/unsaved/:guid',
    {
      config: { permission: 'blueprintactions_update' },
      schema: {
        operationId: 'discardStaged',
        summary: 'Discard staged changes',
        tags,
        params: guidParams,
        response: { 200: Type.Array(blockSchema) },
      },
    },
    (request) => discardStaged(records, request.params.guid, actorOf(request)),
  )
}
