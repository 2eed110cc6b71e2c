import { Type } from 'typebox'
import { candidateBlocks } from '../../../flows/blueprints/staged-content.ts'
import type { Flows } from '../../../flows/flows.ts'
import { getVersion, listVersions } from '../../../flows/live/versions.ts'
import {
  blueprintSchema,
  checkBlueprintSchema,
  checkedBlueprintSchema,
  versionBlocksSchema,
  versionParams,
  versionSchema,
} from '../../../shared/api/blueprints/blueprints.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { deployerOf } from '../search-reply.ts'

const tags = ['Blueprints']

/** What was deployed before, and what would happen at the next deploy. */
export function blueprintVersionRoutes(flows: Flows): RouteFamily {
  return (app) => {
    checkBlueprintRoute(app, flows)
    listVersionsRoute(app, flows)
    getVersionRoute(app, flows)
    rollBackBlueprintRoute(app, flows)
  }
}

function checkBlueprintRoute(app: App, { records, deployments }: Flows): void {
  app.post(
    '/blueprints/check/:guid',
    {
      config: { permission: 'blueprints_view', bodyOptional: true },
      schema: {
        operationId: 'checkBlueprint',
        summary: 'Problems that prevent activation',
        description: 'All of them, with block and pin. Changes nothing.',
        tags,
        params: guidParams,
        body: checkBlueprintSchema,
        response: { 200: checkedBlueprintSchema },
      },
    },
    async (request) => {
      const { guid } = request.params
      const blocks = await candidateBlocks(records, guid, request.body.state ?? 'saved')
      const { problems, notes } = await deployments.check(guid, blocks)
      return {
        problems: problems.map(reported),
        notes: notes.map((note) => ({ ...reported(note), level: note.level })),
      }
    },
  )
}

function listVersionsRoute(app: App, { records }: Flows): void {
  app.get(
    '/blueprints/:guid/versions',
    {
      config: { permission: 'blueprints_view' },
      schema: {
        operationId: 'listVersions',
        summary: 'List versions, newest first',
        description: 'The newest 100.',
        tags,
        params: guidParams,
        response: { 200: Type.Array(versionSchema) },
      },
    },
    (request) => listVersions(records, request.params.guid),
  )
}

function getVersionRoute(app: App, { records }: Flows): void {
  app.get(
    '/blueprints/:guid/versions/:number',
    {
      config: { permission: 'blueprints_view', alsoNeeds: ['blueprintactions_view'] },
      schema: {
        operationId: 'getVersion',
        summary: 'The blocks of one version',
        tags,
        params: versionParams,
        response: { 200: versionBlocksSchema },
      },
    },
    async (request) => {
      const version = await getVersion(records, request.params.guid, request.params.number)
      return { ...version, blocks: JSON.parse(JSON.stringify(version.blocks)) }
    },
  )
}

function rollBackBlueprintRoute(app: App, { deployments }: Flows): void {
  app.post(
    '/blueprints/:guid/versions/:number/rollback',
    {
      config: {
        permission: 'blueprints_update',
        confirmed: true,
        bodyOptional: true,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'rollBackBlueprint',
        summary: 'Deploy a former version again',
        description:
          'Its blocks become a new version, without downtime. The saved blocks do not change and are listed as pending.',
        tags,
        params: versionParams,
        response: { 200: blueprintSchema },
      },
    },
    (request) => deployments.rollBack(request.params.guid, request.params.number, deployerOf(request)),
  )
}

function reported({ block, pin, message }: { block: string; pin?: string; message: string }) {
  return { block, message, ...(pin !== undefined && { pin }) }
}
