import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn, textsIn } from '../../storage/document-fields.ts'
import type { Terminal } from '../command.ts'
import { recordsOf } from '../management.ts'
import { UsageError } from '../read-words.ts'
import { bodyOf, type Cluster, onCluster, soundFolder } from './run-release.ts'

interface PreviewFlags {
  readonly hours?: string | undefined
  readonly copy?: string | undefined
  readonly outside?: boolean | undefined
}

const base = '/_system/previews'

/** Words that say something about previews only. */
export function noPreview(flags: PreviewFlags): void {
  const [name] = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag]))
  if (name !== undefined) throw new UsageError(`--${name} is for previews: add --preview <name>.`)
}

interface PushFlags extends PreviewFlags, Cluster {
  readonly yes?: boolean | undefined
  /** Of pushes that are no previews. */
  readonly [flag: string]: string | boolean | readonly string[] | undefined
}

/** Nothing is asked: nothing that is live changes, and one command takes it away. */
export async function runPreview(
  folder: string,
  name: string,
  { hours, copy, outside, url, remote, yes: _, ...others }: PushFlags,
  terminal: Terminal,
): Promise<number> {
  const [wrong] = Object.entries(others).flatMap(([flag, value]) => (value === undefined ? [] : [flag]))
  if (wrong !== undefined) throw new UsageError(`--${wrong} is not for previews.`)
  const numbers = { ...numberIn('hours', hours), ...numberIn('copy', copy) }
  const application = await soundFolder(folder, terminal)
  if (!application) return 1
  const body = { name, application: bodyOf(application), ...numbers, ...(outside && { outside }) }
  const made = await onCluster(terminal, { url, remote }, (management) => management.call('POST', base, body))
  for (const line of madeLines(isJsonObject(made) ? made : {})) terminal.print(line)
  if (isJsonObject(made)) for (const line of textsIn(made.problems)) terminal.complain(`warning: ${line}`)
  return 0
}

function numberIn(name: string, text: string | undefined): JsonObject {
  if (text === undefined) return {}
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`--${name} must be a number.`)
  return { [name]: Number(text) }
}

function madeLines({
  path,
  application,
  until,
  accounts,
  password,
  copied,
  missing,
  name,
}: JsonObject): string[] {
  const users = objectsIn(accounts).map(
    ({ username, group }) => `${username}${group === '' ? '' : ` (${group})`}`,
  )
  return [
    `${String(application)} is at ${String(path)} until ${timeOf(until)}.`,
    ...(users.length > 0 ? [`Users: ${users.join(', ')}. Password of all: ${String(password)}`] : []),
    ...(copied === 0 ? [] : [`${String(copied)} documents were copied.`]),
    ...textsIn(missing).map((line) => `missing: ${line}`),
    `Remove it: quoin previews --remove ${String(name)}`,
  ]
}

function timeOf(seconds: JsonValue | undefined): string {
  return new Date(Number(seconds) * 1000).toISOString()
}

export async function runPreviews(
  json: boolean,
  remove: string | undefined,
  cluster: Cluster,
  terminal: Terminal,
): Promise<number> {
  return onCluster(terminal, cluster, async (management) => {
    if (remove !== undefined) {
      await management.call('DELETE', `${base}/${encodeURIComponent(remove)}`)
      terminal.print(`The preview ${remove} is removed.`)
      return 0
    }
    const found = recordsOf(await management.call('GET', base))
    if (json) terminal.print(JSON.stringify(found, undefined, 2))
    else
      for (const { name, application, path, until, state, by } of found) {
        const who = isJsonObject(by) ? String(by.username) : ''
        terminal.print([name, application, path, timeOf(until), state, who].map(String).join('\t'))
      }
    return 0
  })
}
