/** The message that a page shows once, after the browser was sent there: kept in a cookie in between. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import type { PageNotice } from '../../shared/pages/page-content.ts'
import { cookieOf, setCookie } from '../server/origin.ts'

const NAME = 'quoin_notice'
const MAX_TEXT = 500
const SECONDS = 60
const tones = ['neutral', 'info', 'success', 'warning', 'danger'] as const

/** `username`: for the sign-in that follows. */
export function keepNotice(
  request: FastifyRequest,
  reply: FastifyReply,
  notice: PageNotice,
  username?: string,
): void {
  const text = [...notice.text].slice(0, MAX_TEXT).join('')
  const value = Buffer.from(JSON.stringify({ tone: notice.tone, text, username })).toString('base64url')
  setCookie(request, reply, NAME, value, { maxAge: SECONDS })
}

/** The message, which is shown from now on and not again. */
export function takeNotice(request: FastifyRequest, reply: FastifyReply): PageNotice | undefined {
  const cookie = cookieOf(request, NAME)
  if (cookie === undefined || cookie === '') return undefined
  setCookie(request, reply, NAME, '', { maxAge: 0 })
  const value = noticeIn(cookie)
  if (typeof value?.text !== 'string') return undefined
  const tone = tones.find((one) => one === value.tone) ?? 'neutral'
  return { tone, text: value.text.slice(0, 2 * MAX_TEXT) }
}

/** Of the user who has just set a password; else empty. */
export function noticeUsername(request: FastifyRequest): string {
  const username = noticeIn(cookieOf(request, NAME) ?? '')?.username
  return typeof username === 'string' ? username.slice(0, MAX_TEXT) : ''
}

function noticeIn(cookie: string): JsonObject | undefined {
  try {
    const value: JsonValue = JSON.parse(Buffer.from(cookie, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
