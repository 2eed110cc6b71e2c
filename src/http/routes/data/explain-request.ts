import type { Access } from '../../../access/access.ts'
import { mayEnter } from '../../../access/scopes.ts'
import { compileCooperatively } from '../../../flows/compile/compile-blueprint.ts'
import { drawnBlock } from '../../../flows/compile/expand-resources.ts'
import type { Flows } from '../../../flows/flows.ts'
import { findRecords, savedBlocks } from '../../../records/records.ts'
import type { Explanation } from '../../../shared/api/blueprints/blueprints.ts'
import { QuoinError } from '../../../shared/errors.ts'
import { matchAll } from '../../../shared/query.ts'
import { guidOf, textIn } from '../../../storage/document-fields.ts'
import { systemStorages } from '../../../storage/system-storages.ts'
import { endpointTable } from '../../endpoints/endpoint-table.ts'
import { pageRoutes } from '../../pages/page-routes.ts'

export interface ExplainRequest {
  readonly method: string
  readonly path: string
  /** Guid of a user; without it: anonymous. */
  readonly user?: string
}

/** Why a request to a custom endpoint is answered, or is 404. For administrators: outside, all reasons look the same. */
export async function explainRequest(
  flows: Flows,
  access: Access,
  asked: ExplainRequest,
): Promise<Explanation> {
  const path = `/${(asked.path.split('?')[0] ?? '').replace(/^\/?(api\/v1\/)?/, '')}`
  const table = flows.live.table()
  const endpoint = endpointTable(table)(asked.method, path)
  const page = endpoint || !mayBePage(asked) ? undefined : pageRoutes(table)(path)
  const found = endpoint ?? page
  if (!found) return explainMissing(flows, asked, path)
  const { blueprint, blueprintName: name } = found
  const { scopes, block } = 'endpoint' in found ? found.endpoint : found.page
  const without = page ? 'is sent to sign in' : 'gets 404'
  const about = {
    blueprint: { guid: blueprint, name, active: true },
    block: drawnBlock(block),
    scopes: [...scopes],
  }
  if (mayEnter(scopes, undefined)) return { reachable: true, reason: 'It is active and public.', ...about }
  const requested = scopes.join(' or ')
  if (asked.user === undefined) {
    const reason = `It is active and requires the scope ${requested}: an anonymous caller ${without}.`
    return { reachable: false, reason, ...about }
  }
  const held = await access.scopesOfUser(asked.user)
  if (!held) throw new QuoinError('INVALID_BODY', `There is no user ${asked.user}.`, { fields: ['user'] })
  const reachable = mayEnter(scopes, { scopes: held })
  const reason = reachable
    ? `The user holds ${requested}.`
    : `The user does not hold ${requested}, and gets ${page ? 403 : 404}. Grant it, or a group that has it.`
  return { reachable, reason, ...about }
}

/** Pages lie beside the API, and are looked at or sent a form. */
function mayBePage({ method, path }: ExplainRequest): boolean {
  return ['GET', 'HEAD', 'POST'].includes(method) && !/^\/?api\//.test(path)
}

/** Looks for the endpoint or page among the blueprints that are not active. */
async function explainMissing(flows: Flows, asked: ExplainRequest, path: string): Promise<Explanation> {
  const { method } = asked
  const { records, catalogue } = flows
  const session = records.database.session()
  const active = flows.live.table().blueprints
  for (const record of await findRecords(session, systemStorages.blueprints, matchAll)) {
    const guid = guidOf(record)
    if (active.has(guid)) continue
    const name = textIn(record.name)
    const { blueprint: compiled } = await compileCooperatively(
      guid,
      await savedBlocks(records, session, guid),
      catalogue,
    )
    if (!compiled) continue
    const table = {
      blueprints: new Map([[guid, { compiled, name, deployment: 0 }]]),
      functions: new Map(),
      version: 0,
    }
    const page = mayBePage(asked) ? pageRoutes(table)(path)?.page : undefined
    const found = endpointTable(table)(method, path)?.endpoint ?? page
    if (!found) continue
    const { block, scopes } = found
    const reason = `It belongs to the blueprint "${name}", which is not active. Activate it with PUT /blueprints/update/set/active/${guid}.`
    return {
      reachable: false,
      reason,
      blueprint: { guid, name, active: false },
      block: drawnBlock(block),
      scopes: [...scopes],
    }
  }
  return { reachable: false, reason: `No blueprint registers ${method} ${path.slice(1)}.` }
}
