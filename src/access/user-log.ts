/**
 * Who came in and what they asked for, with address and agent: `_userlogs`. How long they are kept: `records/retention/retention.ts`.
 *
 * Sign-ins, failures and sign-outs are written in the transaction that they are about: there is none without its record.
 * Requests of signed-in users go through a batched log, which may lose some under a flood and says so. What one user sends
 * from one place within a batch (0.2 s) with the same method and the same status is one record, which counts the requests
 * and lists their paths: or a log of programs that ask all the time would write as many records as documents. Nothing of
 * a request but its method and path is kept: a query or body may hold anything.
 */

import { type BatchedLog, batchedLog, logText } from '../records/batched-log.ts'
import type { JsonObject } from '../shared/json.ts'
import { setFields } from '../shared/mutation.ts'
import type { Search } from '../shared/query.ts'
import type { RecordPage } from '../shared/record-page.ts'
import type { Database, Session } from '../storage/database.ts'
import { findPage } from '../storage/find-documents.ts'
import { systemStorages } from '../storage/system-storages.ts'

const LONGEST_AGENT = 512
const LONGEST_PATH = 512
/** In one record. */
const MOST_PATHS = 100

type UserLogEvent =
  | 'sign_in'
  | 'sign_in_failed'
  | 'sign_out'
  | 'password_reset_sent'
  | 'password_set_by_link'
  | 'signed_up'

/** Where a request came from. */
export interface Sender {
  readonly ip: string
  /** The header `user-agent`. */
  readonly agent?: string | undefined
}

export interface LoggedRequest extends Sender {
  readonly user: { readonly guid: string; readonly username: string }
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  readonly milliseconds: number
  /** One of those that the studio sends by itself. */
  readonly fromStudio?: boolean
}

/** What becomes one record. */
interface LoggedRequests extends LoggedRequest {
  readonly times: number
  /** Each once, in the order in which they came. */
  readonly paths: Set<string>
}

export async function ensureUserLogs(database: Database): Promise<void> {
  await database.ensure(systemStorages.userLogs, {
    indexes: [
      { fields: ['event', '_meta.created'] },
      { fields: ['user.guid', '_meta.created'] },
      { fields: ['ip'] },
    ],
  })
}

/**
 * Notes a sign-in, its failure or a sign-out, in the caller's transaction. Without a user for an unknown name: it
 * may be a password that was typed into the wrong field.
 */
export async function noteUserEvent(
  session: Session,
  event: UserLogEvent,
  user: { readonly guid: string; readonly username: string } | undefined,
  sender: Sender,
): Promise<void> {
  const record = { event, user: user ? actor(user) : null, ...senderFields(sender) }
  await session.create(systemStorages.userLogs, setFields(record))
}

/** The log of requests. The storage is there: see {@link ensureUserLogs}. */
export function requestLog(database: Database): Pick<BatchedLog<LoggedRequest>, 'write' | 'flush' | 'close'> {
  const log = batchedLog<LoggedRequests | number>({
    database,
    name: systemStorages.userLogs,
    recordOf: (entry) => (typeof entry === 'number' ? { event: 'lost', count: entry } : recordOf(entry)),
    lost: (count) => count,
    repeated: { keyOf, both },
  })
  return {
    ...log,
    write: (request) => log.write({ ...request, times: 1, paths: new Set([request.path]) }),
  }
}

function keyOf(entry: LoggedRequests | number): string {
  if (typeof entry === 'number') return 'lost'
  const { user, method, status, ip, agent, fromStudio } = entry
  return `${user.guid} ${status} ${method} ${fromStudio === true} ${ip} ${agent}`
}

function both(
  earlier: LoggedRequests | number,
  later: LoggedRequests | number,
): LoggedRequests | number | undefined {
  if (typeof earlier === 'number' || typeof later === 'number')
    return typeof earlier === typeof later ? Number(earlier) + Number(later) : undefined
  const { paths } = earlier
  if (paths.size === MOST_PATHS && !paths.has(later.path)) return undefined
  paths.add(later.path)
  return {
    ...earlier,
    milliseconds: Math.max(earlier.milliseconds, later.milliseconds),
    times: earlier.times + later.times,
  }
}

function recordOf(request: LoggedRequests): JsonObject {
  const { user, method, status, milliseconds, times } = request
  const paths = [...request.paths].map((path) => logText(path, LONGEST_PATH))
  const [path = ''] = paths
  return {
    event: 'request',
    user: actor(user),
    ...senderFields(request),
    method,
    path: paths.length > 1 ? paths : path,
    status,
    milliseconds: Math.round(milliseconds * 10) / 10,
    times,
    ...(request.fromStudio === true && { studio: true }),
  }
}

function actor({ guid, username }: { readonly guid: string; readonly username: string }): JsonObject {
  return { guid, username }
}

function senderFields({ ip, agent }: Sender): JsonObject {
  return { ip, agent: logText(agent ?? '', LONGEST_AGENT) }
}

export async function searchUserLogs(database: Database, search: Search): Promise<RecordPage> {
  return findPage(database.session(), systemStorages.userLogs, search)
}
