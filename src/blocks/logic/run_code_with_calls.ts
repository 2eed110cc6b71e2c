import { isJsonObject } from '../../shared/json.ts'
import { defineFlow, PinError } from '../block.ts'
import { answerOf, callOver, Refused, runAsking } from './asking-code.ts'
import { callingTypes, checkedCode, checkedResult, clockPins, pinsOf, readResult } from './run_code.ts'

export default defineFlow({
  identifier: 'run_code_with_calls',
  title: 'Run code with calls',
  words: 'Run code with calls',
  summary:
    'Runs JavaScript in a sandbox, which may send requests over the connections that are wired to it: const { status, body } = await call(shop, { path: "orders" }). It reaches nothing else. Without requests, run_code is faster.',
  effects: { calls: 'external', callerIndependent: true },
  in: clockPins,
  out: {
    result: {
      type: 'any',
      help: 'What the code returned, as JSON. Empty if it returned nothing. What a server sent is untrusted.',
    },
  },
  settings: {
    code: {
      kind: 'text',
      required: true,
      lines: true,
      help: 'Body of an async function in JavaScript (ES2023). A JSDoc comment at its start gives types: @param {Connection} shop, @param {number} price, @param {string} [note] where it may be empty, @returns {number}. Types: string, number, boolean, object, array, Date, any, Connection. call(shop, { method, path, query, headers, body, timeout }) gives { status, headers, body } of any status; await each call.',
    },
    parameters: { kind: 'names', help: 'Parameters of the function: each becomes a pin.' },
    timeout: {
      kind: 'number',
      default: 200,
      min: 1,
      max: 2000,
      help: 'Milliseconds of processor time that the code may take between two answers. Each call has a timeout of its own, in seconds.',
    },
  },
  moreIn: ({ code, parameters }) => pinsOf(code, parameters, callingTypes),
  check: (_inputs, settings) => void checkedCode(settings, true),
  async run({ now, seed }, context) {
    const { code, parameters, timeout } = context.settings
    const { returns } = checkedCode(context.settings, true)
    const inputs = Object.fromEntries(
      parameters.map((name) => [name, Object.hasOwn(context.more, name) ? context.more[name] : undefined]),
    )
    // Lines of errors are those of the code.
    const module = `export default { run: async ({ ${parameters.join(', ')} }, { call }) => ({ result: await (async () => { ${code}\n})() }) }`
    const asking = {
      ...{ code, modules: { code: module }, entry: 'code', timeout },
      ...(now !== undefined && { now: now.getTime() }),
      ...(seed !== undefined && { seed }),
    }
    const text = await runAsking(asking, inputs, {
      ...{ settings: {}, signal: context.signal },
      failed: (what) => new PinError('code', what),
      answer: (request) =>
        answerOf(request, context.signal, (kind, words) => {
          if (kind !== 'call') throw new Refused('there is no such question')
          // Each connection is one that a builder has wired to it.
          return callOver(words, { hosts: ['*'], inputs }, context)
        }),
    })
    const ended = readResult(text)
    const [result] = Array.isArray(ended) ? ended : []
    return { result: checkedResult(isJsonObject(result) ? result.result : undefined, returns) }
  },
})
