import { buffer } from 'node:stream/consumers'
import { QuoinError } from '../../shared/errors.ts'
import { isJsonObject, isLargerThan, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { textIn } from '../../storage/document-fields.ts'
import { assetNamed, assetRecord } from '../asset-record.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import { channelName } from '../names.ts'
import { chat } from './chat-reply.ts'
import {
  type AnswerFields,
  answerFields,
  LONGEST_ANSWER,
  LONGEST_INPUT,
  type ModelTools,
  modelTools,
} from './model-answer.ts'
import {
  budgetExceeded,
  ModelUsage,
  modelPins,
  modelServer,
  secondsLeft,
  textFor,
  type Usage,
  usagePins,
} from './model-request.ts'

/** Characters of the texts that are sent. */
const MOST_TEXT = 1024 * 1024
const MOST_FILES = 10
/** Bytes of all files: they are sent as Base64. */
const MOST_FILE_BYTES = 4 * 1024 * 1024
const MOST_HISTORY = 200
/** Of what the model and its tools say in one run: all of it is sent with each request, whatever the server says that it counted. */
const MOST_ADDED = { values: 50_000, characters: 2 * 1024 * 1024 }
/** Characters of a message on a channel. */
const LONGEST_PIECE = 16_384

export default defineFlow({
  identifier: 'ask_model',
  title: 'Ask a model',
  words: 'Ask {model}',
  summary:
    'Asks a language model over the OpenAI-compatible chat API, and gives its answer as a text or as fields that were checked. The model may call custom functions. Its answer is data: treat it as a text that a client has sent.',
  effects: { calls: 'external', sends: ['message'], setsVariables: true },
  deployScopes: ['assets_view'],
  in: {
    ...modelPins,
    url: {
      type: 'value',
      default: 'chat/completions',
      help: 'Path of the chat API below the address of the connection; without a connection the whole address.',
    },
    instructions: { type: 'value', help: 'What the model is to do: the system message.' },
    input: { type: 'any', help: 'What the user says: a text, or a value that is sent as JSON.' },
    files: {
      type: 'any',
      help: 'Files (assets) for the model, one or a list: images, texts and others, such as PDF where the model reads them. At most 10, of 4 MiB together.',
    },
    history: {
      type: 'array',
      help: 'Earlier messages: objects with role (user or assistant) and content, the oldest first. At most 200.',
    },
    temperature: { type: 'number', min: 0, max: 2, help: 'Empty: what the server has as its default.' },
    max_tokens: {
      type: 'number',
      default: 1024,
      min: 1,
      max: 1_000_000,
      integer: true,
      help: 'Maximum tokens of one reply.',
    },
    max_rounds: {
      type: 'number',
      default: 5,
      min: 1,
      max: 50,
      integer: true,
      help: 'How often the model may call tools, one after the other. More are an error of the block.',
    },
    tokens_per_run: {
      type: 'number',
      default: 100_000,
      min: 1,
      integer: true,
      help: 'Maximum tokens that models use in the run, sent and received, in this and all other blocks. Compared before each request: more are an error of the block.',
    },
    money_per_run: { type: 'number', min: 0, help: 'The same for the cost. Empty: no limit.' },
    seconds_per_run: {
      type: 'number',
      min: 0.1,
      help: 'Maximum seconds that the run waits for models, in all of its blocks. A request gets no more than what is left. Empty: no limit.',
    },
    price_out: { type: 'number', default: 0, min: 0, help: 'Price of a million tokens that are received.' },
    channel: {
      type: 'value',
      help: 'Channel on which the text is published while it arrives, as { text }, and at its end { done: true }. Clients get it from a block Subscribe.',
    },
  },
  out: {
    invalid: {
      type: 'flow',
      help: 'Taken when the answer does not fit its fields, after the model could repair it once. Not wired: the block fails.',
    },
    answer: { type: 'any', help: 'The text, or an object with the fields. At invalid the text.' },
    problem: { type: 'value', help: 'At invalid: what does not fit.' },
    finish: { type: 'value', help: 'Why the model stopped: stop, or length when max_tokens was reached.' },
    ...usagePins,
    tokens_out: { type: 'number', help: 'Tokens that were received.' },
    rounds: { type: 'number', help: 'Requests that were sent.' },
  },
  settings: {
    fields: {
      kind: 'fields',
      help: 'Fields of the answer, with types and rules. Neither fields nor storage: the answer is a text.',
    },
    storage: { kind: 'storage', help: 'The answer has the fields of this storage, and keeps their rules.' },
    tools: { kind: 'names', help: 'Custom functions that the model may call, with all rights of the flow.' },
    structure: {
      kind: 'choice',
      options: ['schema', 'json', 'none'],
      default: 'schema',
      help: 'How the server is asked for fields. schema: json_schema. json: json_object, for servers without schemas. none: by the instructions alone.',
    },
    limit_as: {
      kind: 'choice',
      options: ['max_tokens', 'max_completion_tokens'],
      default: 'max_tokens',
      help: 'How the server calls the limit of max_tokens.',
    },
  },
  async run(inputs, context) {
    const { settings, wired } = context
    const channel = inputs.channel === undefined ? undefined : channelName('channel', inputs.channel)
    const fields = await answerFields(settings, context)
    const tools = modelTools(settings.tools, context)
    const usage = new ModelUsage(inputs, context)
    const messages = await firstMessages(inputs, fields, context)
    const common = {
      model: inputs.model,
      [settings.limit_as]: inputs.max_tokens,
      ...(inputs.temperature !== undefined && { temperature: inputs.temperature }),
      ...(tools.descriptions.length > 0 && { tools: tools.descriptions }),
      ...(fields && formatOf(settings.structure, fields)),
    }
    const publish = channel === undefined ? undefined : publisher(channel, context)
    let [rounds, repaired, begun] = [0, false, messages.length]
    const values = () => ({
      ...{ tokens_in: usage.tokensIn, tokens_out: usage.tokensOut, cost: usage.cost, rounds },
    })
    while (true) {
      const retryAfter = await usage.exceeded()
      if (retryAfter !== undefined) {
        if (wired('exceeded')) return { ...values(), next: 'exceeded' }
        throw budgetExceeded(retryAfter)
      }
      const asked = { ...inputs, timeout: secondsLeft(usage, inputs) }
      rounds += 1
      refuseLongTalk(messages.slice(begun))
      const count = (used: Usage) => usage.add(used)
      const server = modelServer(asked, context, count)
      const reply = await usage.timed(context, () => chat(server, { ...common, messages }, count, publish))
      if (reply.calls.length > 0) {
        if (rounds > inputs.max_rounds) throw tooManyRounds(inputs.max_rounds)
        secondsLeft(usage, inputs)
        messages.push(...(await callTools(reply, tools)))
        // What a function has written is not left open while the model thinks.
        await context.commit()
        continue
      }
      const read = fields?.read(reply.text)
      if (read && 'problem' in read) {
        if (repaired) {
          if (wired('invalid'))
            return {
              ...values(),
              answer: reply.text,
              problem: read.problem,
              finish: reply.finish,
              next: 'invalid',
            }
          throw new QuoinError('UNAVAILABLE', `the answer of the model cannot be used. ${read.problem}`)
        }
        repaired = true
        messages.push(...sentBack(reply.text, read.problem))
        continue
      }
      if (channel !== undefined) context.publish(channel, '{"done":true}')
      return { ...values(), answer: read?.value ?? reply.text, finish: reply.finish }
    }
  },
})

function sentBack(text: string, problem: string): readonly JsonObject[] {
  return [
    { role: 'assistant', content: text.slice(0, LONGEST_ANSWER) },
    { role: 'user', content: `${problem} Answer again with the JSON object only.` },
  ]
}

function tooManyRounds(most: number): QuoinError {
  const message = `the model called tools more than ${most} times, which is max_rounds`
  return new QuoinError('UNAVAILABLE', message)
}

function refuseLongTalk(added: readonly JsonObject[]): void {
  const { values, characters } = MOST_ADDED
  if (isLargerThan(added, values, characters))
    throw new QuoinError(
      'UNAVAILABLE',
      `what the model and its tools said has more than ${characters} characters`,
    )
}

async function callTools(
  { text, calls }: Awaited<ReturnType<typeof chat>>,
  tools: ModelTools,
): Promise<readonly JsonObject[]> {
  const asked = calls.map(({ id, name, input }) => ({
    ...{ id, type: 'function' },
    // What no tool takes is not sent back.
    function: { name: name.slice(0, 100), arguments: input.length > LONGEST_INPUT ? '{}' : input },
  }))
  const messages: JsonObject[] = [
    { role: 'assistant', content: text === '' ? null : text, tool_calls: asked },
  ]
  for (const call of calls)
    messages.push({ role: 'tool', tool_call_id: call.id, content: await tools.call(call) })
  return messages
}

function formatOf(structure: string, { schema }: AnswerFields): JsonObject {
  if (structure === 'none') return {}
  if (structure === 'json') return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } }
}

interface Said {
  readonly instructions: string | undefined
  readonly input: JsonValue | undefined
  readonly files: JsonValue | undefined
  readonly history: readonly JsonValue[] | undefined
}

async function firstMessages(
  { instructions, input, files, history = [] }: Said,
  fields: AnswerFields | undefined,
  context: FlowContext,
): Promise<JsonObject[]> {
  const shape =
    fields && `Answer with one JSON object of this schema and nothing else: ${JSON.stringify(fields.schema)}`
  const system = [instructions, shape].filter((one) => one !== undefined && one !== '').join('\n\n')
  const said = input === undefined ? '' : textFor('input', input, MOST_TEXT)
  textFor('instructions', system, MOST_TEXT)
  const parts = files === undefined ? [] : await fileParts(files, context)
  if (said === '' && parts.length === 0 && history.length === 0) throw new PinError('input', 'is empty')
  const content =
    parts.length === 0 ? said : [...(said === '' ? [] : [{ type: 'text', text: said }]), ...parts]
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...readHistory(history),
    ...(said === '' && parts.length === 0 ? [] : [{ role: 'user', content }]),
  ]
}

function readHistory(history: readonly JsonValue[]): readonly JsonObject[] {
  if (history.length > MOST_HISTORY)
    throw new PinError('history', `must have at most ${MOST_HISTORY} messages`)
  const messages = history.map((one) => {
    const { role, content } = isJsonObject(one) ? one : {}
    if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string')
      throw new PinError('history', 'must hold objects with role (user or assistant) and content (text)')
    return { role, content }
  })
  textFor('history', messages, MOST_TEXT)
  return messages
}

async function fileParts(files: JsonValue, context: FlowContext): Promise<readonly JsonObject[]> {
  const list: readonly JsonValue[] = Array.isArray(files) ? files : [files]
  if (list.length > MOST_FILES) throw new PinError('files', `must be at most ${MOST_FILES} files`)
  const records: JsonObject[] = []
  for (const file of list)
    records.push(await assetRecord('files', assetNamed('files', file), context.session))
  const size = records.reduce((sum, record) => sum + Number(record.size ?? 0), 0)
  if (size > MOST_FILE_BYTES)
    throw new PinError('files', `must have at most ${MOST_FILE_BYTES} bytes together`)
  const parts: JsonObject[] = []
  for (const record of records)
    parts.push(filePart(record, await buffer(context.services.files.read(record))))
  return parts
}

function filePart(record: JsonObject, bytes: Buffer): JsonObject {
  const [type, name] = [textIn(record.type), textIn(record.name)]
  const data = `data:${type};base64,${bytes.toString('base64')}`
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url: data } }
  if (type.startsWith('text/') || type === 'application/json')
    return { type: 'text', text: `File ${name}:\n${bytes.toString()}` }
  return { type: 'file', file: { filename: name, file_data: data } }
}

/** Each message goes out at once: the run has nothing that is not committed. */
function publisher(channel: string, context: FlowContext): (text: string) => Promise<void> {
  return async (text) => {
    for (let at = 0; at < text.length; at += LONGEST_PIECE)
      context.publish(channel, JSON.stringify({ text: text.slice(at, at + LONGEST_PIECE) }))
    await context.commit()
  }
}
