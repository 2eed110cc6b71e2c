import type { ConnectionRecord, TriedConnection } from '../../shared/api/operate/connections.ts'
import { MAX_CONNECTIONS } from '../../shared/names/stored-names.ts'
import { namedRecords } from './named-records.ts'
import { call } from './request.ts'

export const connections = namedRecords<ConnectionRecord>(
  '/_system/connections',
  'connections',
  MAX_CONNECTIONS,
)

/** Sends one request over a stored connection. */
export function tryConnection(guid: string, path: string): Promise<TriedConnection> {
  return call<TriedConnection>('POST', `${connections.path}/${guid}/try`, { body: { path } })
}
