/** Calls the webhook of an alert: with the same guard as `http_request`, and signed where the rule names a secret. */
import { createHmac } from 'node:crypto'
import { PinError } from '../blocks/block.ts'
import { sharedAgent } from '../blocks/http/guarded-agent.ts'
import { sendForHead } from '../blocks/http/send-request.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { documentOf } from '../storage/database.ts'
import { textIn } from '../storage/document-fields.ts'
import { type Job, JobRefused } from '../storage/job.ts'
import { systemStorages } from '../storage/system-storages.ts'
import type { Flows } from './flows.ts'

type AlertFlows = Pick<Flows, 'environment' | 'records' | 'secrets'>

/** Of the reply only the status is read: one that is long, or does not end, is not a reason to call again. */
const TIMEOUT_SECONDS = 10

/** Resolves when the other server has replied with 2xx. Without the rule there is no call. */
export async function sendAlert(
  { environment, records: { database, clock }, secrets }: AlertFlows,
  { guid, payload }: Pick<Job, 'guid' | 'payload'>,
  signal: AbortSignal,
): Promise<void> {
  const news = isJsonObject(payload.alert) ? payload.alert : {}
  const stored = await database.session().get(systemStorages.alerts, textIn(news.rule))
  const rule = stored && documentOf(stored)
  const url = URL.parse(textIn(rule?.webhook))
  if (!rule || url === null) return
  const body = JSON.stringify({ id: guid, type: `alert.${textIn(news.what)}`, ...news })
  const time = String(Math.floor(clock() / 1000))
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quoin',
    'x-quoin-timestamp': time,
    ...signatureOf(secrets, rule, url, `${time}.${body}`),
  }
  const agent = await sharedAgent(environment.allowedHosts())
  const request = { url, method: 'POST', headers, body, follow: false } as const
  const answer = await sendForHead(request, agent, { timeout: TIMEOUT_SECONDS, signal }).catch(
    (error: unknown) => {
      // An address that may not be reached stays so.
      throw error instanceof PinError ? new JobRefused(`The webhook ${error.message}.`) : error
    },
  )
  if (answer.code < 200 || answer.code > 299)
    throw new Error(`The webhook replied with ${answer.code}; 200 to 299 is expected.`)
}

function signatureOf(
  secrets: AlertFlows['secrets'],
  rule: JsonObject,
  to: URL,
  signed: string,
): Readonly<Record<string, string>> {
  const name = textIn(rule.secret)
  if (name === '') return {}
  const opened = secrets.open(name, to)
  if ('problem' in opened) throw new Error(`The alert ${opened.problem}.`)
  return { 'x-quoin-signature': `sha256=${createHmac('sha256', opened.value).update(signed).digest('hex')}` }
}
