import type { AuditStream } from '../records/audit-stream/audit-stream.ts'
import type { SystemLog } from '../records/system-log.ts'
import type { NodeRecords } from './open-records.ts'
import type { SetStart } from './open-settings.ts'

/** Sends the audit log where the settings say. Gives whether records wait; its code is loaded where there is a receiver. */
export async function openAuditStreaming(
  { options, clock, offline, opened }: SetStart,
  { database, auditChain }: Pick<NodeRecords, 'database' | 'auditChain'>,
  log: Pick<SystemLog, 'write'>,
): Promise<AuditStream['isLate']> {
  const { auditStream: url, auditStreamToken: token } = options
  if (url === '' || offline) return () => false
  const { openAuditStream } = await import('../records/audit-stream/audit-stream.ts')
  const { auditReceiver } = await import('../records/audit-stream/audit-receiver.ts')
  // What was written before the first start with a receiver has its place then, and is not sent.
  await auditChain.seal()
  const stream = await openAuditStream({
    ...{ database, clock, receiver: auditReceiver({ url, token }) },
    failed: (message) => log.write({ level: 'error', message }),
  })
  opened.add(() => stream.close())
  return stream.isLate
}
