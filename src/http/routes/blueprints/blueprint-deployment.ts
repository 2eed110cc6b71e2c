import { Type } from 'typebox'
import type { Access } from '../../../access/access.ts'
import type { Flows } from '../../../flows/flows.ts'
import { accountPathsListed } from '../../../shared/account-paths.ts'
import {
  blueprintSchema,
  deployActionSchema,
  explainRequestSchema,
  explanationSchema,
} from '../../../shared/api/blueprints/blueprints.ts'
import { guidParams } from '../../../shared/api/record-schemas.ts'
import type { App, RouteFamily } from '../../server/route-family.ts'
import { explainRequest } from '../data/explain-request.ts'
import { actorOf, deployerOf } from '../search-reply.ts'

const tags = ['Blueprints']

/** What answers requests: activating, deploying, and why something does or does not. */
export function blueprintDeploymentRoutes(flows: Flows, access: Access): RouteFamily {
  const shared = sharedParts(flows, access)
  return (app) => {
    activateBlueprintRoute(app, shared)
    deactivateBlueprintRoute(app, shared)
    listDeployActionsRoute(app, shared)
    deployBlueprintRoute(app, shared)
    explainRequestRoute(app, shared)
  }
}

type SharedParts = ReturnType<typeof sharedParts>

/** What the routes share. */
function sharedParts(flows: Flows, access: Access) {
  const { deployments } = flows
  return { flows, access, deployments }
}

function activateBlueprintRoute(app: App, { deployments }: SharedParts): void {
  app.put(
    '/blueprints/update/set/active/:guid',
    {
      config: {
        permission: 'blueprints_update',
        bodyOptional: true,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'activateBlueprint',
        summary: 'Activate a blueprint',
        description: `Checks and deploys the saved blocks; the endpoints are live when this replies. A blueprint that cannot run gets 422 with every problem, and nothing changes. A blueprint with an account page (${accountPathsListed}) requires the scope \`blueprints_account_pages\`, here and at each deploy.`,
        tags,
        params: guidParams,
        response: { 200: blueprintSchema },
      },
    },
    (request) => deployments.activate(request.params.guid, deployerOf(request)),
  )
}

function deactivateBlueprintRoute(app: App, { deployments }: SharedParts): void {
  app.put(
    '/blueprints/update/set/inactive/:guid',
    {
      config: { permission: 'blueprints_update', bodyOptional: true },
      schema: {
        operationId: 'deactivateBlueprint',
        summary: 'Deactivate a blueprint',
        description: 'Its endpoints then reply 404; requests in progress finish.',
        tags,
        params: guidParams,
        response: { 200: blueprintSchema },
      },
    },
    (request) => deployments.deactivate(request.params.guid, actorOf(request)),
  )
}

function listDeployActionsRoute(app: App, { deployments }: SharedParts): void {
  app.get(
    '/blueprints/deploy/:guid/actions',
    {
      config: { permission: 'blueprints_view', alsoNeeds: ['blueprintactions_view'] },
      schema: {
        operationId: 'listDeployActions',
        summary: 'Pending deploy actions',
        description: 'The blocks that differ between saved and deployed.',
        tags,
        params: guidParams,
        response: { 200: Type.Array(deployActionSchema) },
      },
    },
    async (request) => {
      const found = await deployments.pending(request.params.guid)
      return found.map(({ before, after, ...rest }) => ({
        ...rest,
        before: asJson(before),
        after: asJson(after),
      }))
    },
  )
}

function deployBlueprintRoute(app: App, { deployments }: SharedParts): void {
  app.post(
    '/blueprints/deploy/:guid',
    {
      config: {
        permission: 'blueprints_update',
        bodyOptional: true,
        errors: ['CONFLICT', 'VALIDATION_FAILED'],
      },
      schema: {
        operationId: 'deployBlueprint',
        summary: 'Deploy the saved blocks',
        description: 'Zero downtime: each request runs entirely on the old or the new version.',
        tags,
        params: guidParams,
        response: { 200: blueprintSchema },
      },
    },
    (request) => deployments.deploy(request.params.guid, deployerOf(request)),
  )
}

function explainRequestRoute(app: App, { flows, access }: SharedParts): void {
  app.post(
    '/blueprints/explain',
    {
      config: { permission: 'blueprints_view' },
      schema: {
        operationId: 'explainRequest',
        summary: 'Explain why a custom endpoint is reachable or 404',
        tags,
        body: explainRequestSchema,
        response: { 200: explanationSchema },
      },
    },
    (request) => explainRequest(flows, access, request.body),
  )
}

/** A block as JSON has it: what is undefined is not there. */
function asJson(block: object | null) {
  return block === null ? null : JSON.parse(JSON.stringify(block))
}
