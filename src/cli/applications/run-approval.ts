/** Pushes that wait for a second user. */
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import type { Terminal } from '../command.ts'
import { type Management, Refused, recordsOf } from '../management.ts'
import { agreed, type Cluster, onCluster, planLines, reported, whenLive } from './run-release.ts'

const base = '/_system/pushes'

export function runPushes(json: boolean, cluster: Cluster, terminal: Terminal): Promise<number> {
  return onCluster(terminal, cluster, async (management) => {
    const found = recordsOf(await management.call('GET', base))
    if (json) terminal.print(JSON.stringify(found, undefined, 2))
    else
      for (const { guid, application, release, status, by, created } of found) {
        const when = new Date(Number(created) * 1000).toISOString()
        terminal.print(`${guid}\t${status}\t${application}\t${release}\t${when}\t${nameOf(by)}`)
      }
    return 0
  })
}

export function runApprove(
  guid: string,
  yes: boolean,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  return onCluster(terminal, cluster, async (management) => {
    const { plan, by } = await pushAt(management, guid)
    const shown = isJsonObject(plan) ? plan : {}
    terminal.print(`Pushed by ${nameOf(by)}:`)
    for (const line of planLines(shown)) terminal.print(line)
    if (!yes && !(await agreed(terminal, 'Approve and release this?', 'Nothing was approved.'))) return 1
    const body = { state: shown.state ?? '' }
    const approve = () => management.call('POST', `${base}/${encodeURIComponent(guid)}/approve`, body)
    return reported(await whenLive(approve, terminal), terminal)
  })
}

export function runReject(
  guid: string,
  comment: string,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  return onCluster(terminal, cluster, async (management) => {
    const { application, release } = await pushAt(management, guid)
    const path = `${base}/${encodeURIComponent(guid)}`
    const own = await withdrawn(management, path)
    if (!own) await management.call('POST', `${path}/reject`, { comment })
    terminal.print(`Release ${release} of ${application} is ${own ? 'withdrawn' : 'rejected'}.`)
    return 0
  })
}

/** False for the push of another user. */
async function withdrawn(management: Management, path: string): Promise<boolean> {
  try {
    await management.call('POST', `${path}/withdraw`)
    return true
  } catch (error) {
    if (error instanceof Refused && error.status === 403) return false
    throw error
  }
}

async function pushAt(management: Management, guid: string): Promise<JsonObject> {
  const push = await management.call('GET', `${base}/${encodeURIComponent(guid)}`)
  return isJsonObject(push) ? push : {}
}

function nameOf(by: JsonObject[string] | undefined): string {
  return isJsonObject(by) ? String(by.username) : ''
}
