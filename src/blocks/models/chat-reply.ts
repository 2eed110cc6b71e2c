/** What a reply of the chat API holds, whole or put together from pieces. */
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { LONGEST_INPUT, type ToolCall } from './model-answer.ts'
import type { ModelServer, Usage } from './model-request.ts'
import { usageIn } from './model-request.ts'

/** Calls in one reply. */
const MOST_CALLS = 20
/** Of the arguments of a call. */
const MOST_VALUES = 25_000
/** Milliseconds between two messages on a channel: a piece is often a word. */
const PAUSE = 50

export interface ChatReply {
  readonly text: string
  readonly calls: readonly ToolCall[]
  /** Why the model stopped, such as `stop` or `length`. */
  readonly finish: string
}

type OnUsage = (usage: Usage) => Promise<void>

/**
 * `onUsage`: is told what the reply cost, also of one that cannot be used. `onText`: the reply is asked for in pieces, and each text of
 * it is given.
 */
export async function chat(
  server: ModelServer,
  body: JsonObject,
  onUsage: OnUsage,
  onText?: (text: string) => Promise<void>,
): Promise<ChatReply> {
  if (!onText) return wholeReply(await server.send(body), body, onUsage)
  const pieces = new ReplyPieces(onText)
  let isStream = false
  const options = { stream: true, stream_options: { include_usage: true } }
  const reply = await server.send({ ...body, ...options }, (piece) => {
    isStream = true
    return pieces.add(piece)
  })
  // A server that does not know streams replies as a whole.
  if (!isStream) {
    const whole = await wholeReply(reply, body, onUsage)
    await onText(whole.text)
    return whole
  }
  await onUsage(pieces.usage(body))
  await pieces.flush()
  return pieces.reply()
}

async function wholeReply(reply: JsonObject, sent: JsonObject, onUsage: OnUsage): Promise<ChatReply> {
  const choice = firstChoice(reply)
  const message = isJsonObject(choice?.message) ? choice.message : undefined
  const text = textOf(message?.content) || textOf(message?.refusal)
  await onUsage(usageIn(reply, sent, text.length))
  if (!message) throw new QuoinError('UNAVAILABLE', 'the model server replied without a message')
  const calls = listOf(message.tool_calls).map(readCall)
  return { text, calls, finish: wordOf(choice?.finish_reason) }
}

function firstChoice(reply: JsonObject): JsonObject | undefined {
  const [choice] = listOf(reply.choices)
  return isJsonObject(choice) ? choice : undefined
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value.slice(0, MOST_CALLS) : []
}

function wordOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, 60) : ''
}

/** A text, or a list of parts with texts. */
function textOf(content: JsonValue | undefined): string {
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content : []
  return parts.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

function readCall(call: JsonValue, at: number): ToolCall {
  const { id, function: called } = isJsonObject(call) ? call : {}
  const { name, arguments: input } = isJsonObject(called) ? called : {}
  return {
    id: wordOf(id) || `call_${at}`,
    name: typeof name === 'string' ? name : '',
    input: typeof input === 'string' ? input : writtenInput(input ?? {}),
  }
}

/** Some servers give them as a value. One that no tool takes is not written out. */
function writtenInput(input: JsonValue): string {
  return isLargerThan(input, MOST_VALUES, LONGEST_INPUT) ? 'too long' : JSON.stringify(input)
}

/** A reply that comes in pieces: texts and the arguments of calls are continued by the next piece. */
class ReplyPieces {
  #text = ''
  #finish = ''
  #usage: JsonObject = {}
  readonly #calls = new Map<number, { id: string; name: string; input: string }>()
  readonly #onText: (text: string) => Promise<void>
  #held = ''
  #sentAt = 0

  constructor(onText: (text: string) => Promise<void>) {
    this.#onText = onText
  }

  async add(piece: JsonObject): Promise<void> {
    if (isJsonObject(piece.error))
      throw new QuoinError('UNAVAILABLE', 'the model server ended its reply with an error')
    if (isJsonObject(piece.usage)) this.#usage = piece
    const choice = firstChoice(piece)
    this.#finish = wordOf(choice?.finish_reason) || this.#finish
    const delta = isJsonObject(choice?.delta) ? choice.delta : {}
    for (const [at, call] of listOf(delta.tool_calls).entries()) this.#addCall(call, at)
    const text = textOf(delta.content) || textOf(delta.refusal)
    this.#text += text
    this.#held += text
    if (this.#held !== '' && performance.now() - this.#sentAt >= PAUSE) await this.flush()
  }

  #addCall(call: JsonValue, at: number): void {
    if (!isJsonObject(call)) return
    const index = typeof call.index === 'number' ? call.index : at
    const known = this.#calls.get(index) ?? { id: '', name: '', input: '' }
    if (this.#calls.size >= MOST_CALLS && !this.#calls.has(index)) return
    const { name, arguments: input } = isJsonObject(call.function) ? call.function : {}
    this.#calls.set(index, {
      id: known.id || wordOf(call.id) || `call_${index}`,
      name: known.name || (typeof name === 'string' ? name : ''),
      input: known.input + (typeof input === 'string' ? input : ''),
    })
  }

  async flush(): Promise<void> {
    const text = this.#held
    if (text === '') return
    this.#held = ''
    this.#sentAt = performance.now()
    await this.#onText(text)
  }

  usage(sent: JsonObject): Usage {
    const inputs = [...this.#calls.values()].reduce((sum, { input }) => sum + input.length, 0)
    return usageIn(this.#usage, sent, this.#text.length + inputs)
  }

  reply(): ChatReply {
    return { text: this.#text, calls: [...this.#calls.values()], finish: this.#finish }
  }
}
