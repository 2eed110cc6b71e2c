import { defineFlow } from '../block.ts'
import { cachedAnswers } from './cached-answers.ts'
import { prepareRequest, sendingIn, sendPrepared } from './prepared-request.ts'
import { headersOf, longNumberSetting, readBody, refusedReply } from './read-answer.ts'
import {
  addressPins,
  bodyPin,
  bodySettings,
  headPins,
  repeatSettings,
  replyLimitPins,
  requestAttemptPins,
  retrySettings,
} from './request-pins.ts'
import { sendRequest } from './send-request.ts'

export default defineFlow({
  identifier: 'http_request',
  aliases: ['http request'],
  title: 'HTTP request',
  words: '[{method} ]{url}',
  summary: 'Sends an HTTP request to another server and waits for the reply. Follows redirects.',
  effects: { calls: 'external', callerIndependent: true },
  in: {
    ...addressPins,
    method: {
      type: 'value',
      default: 'GET',
      choices: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'],
      help: 'Method: GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS.',
    },
    ...headPins,
    body: bodyPin,
    ...replyLimitPins,
    ...requestAttemptPins,
  },
  out: {
    code: { type: 'number', help: 'Status code of the reply.' },
    body: {
      type: 'any',
      help: 'Body of the reply: parsed if it is JSON, else text. Empty without a body.',
    },
    headers: {
      type: 'object',
      help: 'Headers of the reply, in lower case. A repeated header is a list.',
    },
    ok: { type: 'condition', help: 'Whether the status code is from 200 to 299.' },
    from_cache: {
      type: 'condition',
      help: 'Whether the reply was kept, or came with the same request of another run: see keep_seconds.',
    },
    failed: { type: 'flow', help: 'If it is wired, taken for a status code outside of 200 to 299.' },
  },
  settings: {
    ...bodySettings,
    ...repeatSettings,
    ...retrySettings,
    ...longNumberSetting,
    keep_seconds: {
      kind: 'number',
      default: 0,
      min: 0,
      max: 86_400,
      help: 'Seconds for which a reply to GET or HEAD with a status code from 200 to 299 is kept in the memory of each node. Requests with the same address, headers and connection get it. 0: each request is sent.',
    },
    must_succeed: {
      kind: 'switch',
      default: false,
      help: 'Whether a status code outside of 200 to 299 is an error of the block. A job fails then and is tried again.',
    },
  },
  async run(inputs, context) {
    const { max_size: maxSize } = inputs
    const { settings, wired } = context
    const now = () => context.now()
    const sending = sendingIn(inputs, settings, context)
    const prepared = await prepareRequest({ ...inputs, bodyAs: settings.body_as }, context)
    const { agent, request, opened } = prepared
    const answers = cachedAnswers(agent, request, opened, {
      ...{ seconds: settings.keep_seconds, maxSize },
      limits: JSON.stringify([inputs.timeout, inputs.attempts ?? settings.retries, inputs.back_off]),
    })
    const known = answers?.find(now())
    const send = () =>
      sendPrepared(prepared, sending, (one, limits) => sendRequest(one, agent, { ...limits, maxSize }))
    const { answer, isOwn } = known
      ? { answer: known, isOwn: false }
      : answers
        ? await answers.sendOnce(send, context.signal)
        : { answer: await send(), isOwn: true }
    if (isOwn) answers?.keep(answer, now())
    const { code } = answer
    const ok = code >= 200 && code <= 299
    const input = {
      code,
      body: await readBody(answer, settings.long_numbers),
      headers: headersOf(answer),
      ok,
      from_cache: !isOwn,
    }
    if (!ok && wired('failed') && !settings.must_succeed) return { ...input, next: 'failed' }
    if (!ok && (settings.must_succeed || opened)) throw refusedReply(answer)
    return input
  },
})
