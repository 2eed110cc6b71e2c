/**
 * What a thread of `code-threads.ts` runs. Not to be imported. Code runs in QuickJS, which is WebAssembly: it reaches nothing of this
 * process. Each call has a sandbox of its own (a runtime with a context), so that nothing of one call is there in the next. It is made before
 * the call comes: making it takes 0.6 ms, and a small call a tenth of that.
 */
import { parentPort } from 'node:worker_threads'
import variant from '@jitl/quickjs-singlefile-mjs-release-sync'
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  Scope,
} from 'quickjs-emscripten-core'
import {
  type CodeCall,
  type CodeOutcome,
  MOST_TEXT,
  type ModuleCall,
  type ThreadCall,
  type ThreadMessage,
} from './code-threads.ts'

/** Bytes that the objects of one call may take. */
const MOST_MEMORY = 32 * 1024 * 1024
/** Bytes. */
const STACK = 256 * 1024
/** Bytes of WebAssembly, which never shrink: a thread with more is replaced. */
const MOST_WASM = 64 * 1024 * 1024
/** Characters of what an error says. */
const LONGEST_MESSAGE = 500

// Local times are UTC, whatever the zone of the machine: the same code gives the same on each node.
Date.prototype.getTimezoneOffset = () => 0

/** Of what `setClock` gets; without it there are none. */
const CLOCK_AND_RANDOMNESS = `
  let now;
  let seed;
  let state = 1779033703;
  const { construct } = Reflect;
  const { imul } = Math;
  const Clock = Date;
  const missing = (what, pin) => new Error('there is no ' + what + '; wire the pin ' + pin);
  const clock = () => {
    if (now === undefined) throw missing('clock', 'now');
    return now;
  };
  globalThis.Date = new Proxy(Clock, {
    construct: (_, given, target) => construct(Clock, given.length === 0 ? [clock()] : given, target),
    apply: () => new Clock(clock()).toString(),
  });
  Clock.now = clock;
  Clock.prototype.constructor = Date;
  const setClock = (words) => {
    now = words.now;
    seed = words.seed;
    for (let at = 0; at < (seed ?? '').length; at++) {
      state = imul(state ^ seed.charCodeAt(at), 3432918353);
      state = (state << 13) | (state >>> 19);
    }
  };
  Math.random = () => {
    if (seed === undefined) throw missing('randomness', 'seed');
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };`

/**
 * Runs before the code of a builder, which can replace what is global, and therefore holds what it uses. The clock and the randomness
 * are inputs: without them there are none, because the same inputs must give the same result.
 */
const PRELUDE = `((limit) => {
  'use strict';
  const { parse, stringify } = JSON;
  ${CLOCK_AND_RANDOMNESS}
  return (run, input, words) => {
    try {
      const { dates, empty, ...clock } = parse(words);
      setClock(clock);
      const values = parse(input);
      for (let at = 0; at < dates.length; at++) values[dates[at]] = new Clock(values[dates[at]]);
      for (let at = 0; at < empty.length; at++) values[empty[at]] = undefined;
      const result = run(...values);
      if (typeof result?.then === 'function') throw new Error('the result is a promise; code cannot wait');
      const text = stringify(result);
      if (text?.length > limit) throw new Error('the result has ' + text.length + ' characters of JSON; at most ' + limit + ' are allowed');
      return text === undefined ? 'empty' : 'given:' + text;
    } catch (error) {
      const line = /code:([0-9]+)/.exec(error?.stack)?.[1];
      const message = error?.name === undefined ? String(error) : error.name + ': ' + error.message;
      return 'threw:' + message.slice(0, ${LONGEST_MESSAGE}) + (line === undefined ? '' : ', in line ' + line);
    }
  };
})`.replaceAll('\n', ' ')

const quickjs = await newQuickJSWASMModuleFromVariant(variant)

/** Processor time of this thread, in milliseconds: another thread that takes the processor does not end the code of this one. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

interface Sandbox {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** Of blocks with code and of extensions. */
  readonly isFor: 'code' | 'modules'
  /** What the prelude of these gives. */
  readonly host: QuickJSHandle
}

function newSandbox(isFor: Sandbox['isFor']): Sandbox {
  const runtime = quickjs.newRuntime()
  runtime.setMemoryLimit(MOST_MEMORY)
  runtime.setMaxStackSize(STACK)
  const context = runtime.newContext()
  const prelude = `${isFor === 'code' ? PRELUDE : HOST}(${MOST_TEXT})`
  const host = context.unwrapResult(context.evalCode(prelude, 'quoin'))
  return { runtime, context, isFor, host }
}

function outcomeOf({ runtime, context, host }: Sandbox, call: ThreadCall): CodeOutcome {
  const began = processorTime()
  let isLate = false
  runtime.setInterruptHandler(() => {
    isLate ||= processorTime() - began > call.timeout
    return isLate
  })
  const outcome =
    'modules' in call ? moduleOutcome(runtime, context, host, call) : codeOutcome(context, host, call)
  // A function that waits turns the interruption into an error like any other, which it may also catch.
  return isLate ? { kind: 'late' } : outcome
}

/** False when QuickJS misses something, as after an interrupted chain of promises: the WebAssembly module cannot be used again then. */
function cleared({ runtime, context, host }: Sandbox): boolean {
  try {
    host.dispose()
    context.dispose()
    runtime.dispose()
    return (quickjs.getWasmMemory?.().buffer.byteLength ?? 0) <= MOST_WASM
  } catch {
    return false
  }
}

function codeOutcome(
  context: QuickJSContext,
  host: QuickJSHandle,
  { code, parameters, input, ...words }: CodeCall,
): CodeOutcome {
  return Scope.withScope((scope) => {
    // Lines of errors are those of the code.
    const written = context.evalCode(
      `(function (${parameters.join(', ')}) { "use strict"; ${code}\n})`,
      'code',
    )
    if (written.error) return failureOf(context, scope.manage(written.error))
    const texts = [input, JSON.stringify(words)].map((text) => scope.manage(context.newString(text)))
    const ended = context.callFunction(host, context.undefined, scope.manage(written.value), ...texts)
    if (ended.error) return failureOf(context, scope.manage(ended.error))
    const text = textOf(context, scope.manage(ended.value))
    return text === 'empty' ? { kind: 'given' } : outcomeIn(text)
  })
}

/**
 * Runs before the modules of an extension, which can replace what is global. A block that asks for something outside is run again from its
 * beginning with the answer: it has no clock and no randomness of its own, so it asks for the same again, and no thread waits for servers.
 */
const HOST = `((limit) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { freeze, entries } = Object;
  const Fault = Error;
  const Later = Promise;
  const then = Promise.prototype.then;
  ${CLOCK_AND_RANDOMNESS}
  const asks = [];
  const logs = [];
  let at = 0;
  let answers = [];
  let outcome;
  const ask = (kind, ...words) => new Later((resolve, reject) => {
    const request = stringify([kind, ...words]);
    const answer = answers[at++];
    if (answer === undefined) asks[asks.length] = request;
    else if (answer.request !== request) reject(new Fault('the block asked for something else when it was run again'));
    else if (answer.problem !== undefined) reject(new Fault(answer.problem));
    else resolve(answer.value === undefined ? undefined : parse(answer.value));
  });
  const host = freeze({
    call: (connection, request) => ask('call', connection, request),
    documents: freeze({
      get: (storage, guid) => ask('get', storage, guid),
      search: (storage, search) => ask('search', storage, search),
      create: (storage, fields) => ask('create', storage, fields),
      update: (storage, guid, fields) => ask('update', storage, guid, fields),
      remove: (storage, guid) => ask('remove', storage, guid),
    }),
    log: (value) => {
      logs[logs.length] = value;
    },
  });
  const failed = (error) => {
    const line = /([\\w.\\/-]+:[0-9]+)(?::[0-9]+)?\\)?\\s*$/m.exec(error?.stack)?.[1];
    const message = error?.name === undefined ? String(error) : error.name + ': ' + error.message;
    outcome = 'threw:' + message.slice(0, ${LONGEST_MESSAGE}) + (line === undefined ? '' : ', in ' + line);
  };
  return {
    describe: (block) => {
      try {
        outcome = 'given:' + stringify([block, typeof block?.run]);
      } catch (error) {
        failed(error);
      }
    },
    begin: (words) => setClock(parse(words)),
    run: (block, input) => {
      const [inputs, dates, settings, given] = parse(input);
      answers = given;
      for (let index = 0; index < dates.length; index++) inputs[dates[index]] = new Clock(inputs[dates[index]]);
      const run = async () => block.run(inputs, freeze({ ...host, settings: freeze(settings) }));
      then.call(run(), (result) => {
        outcome = 'given:' + stringify([result, logs]);
      }).catch(failed);
    },
    outcome: () => {
      if (outcome === undefined)
        return asks.length > 0 ? 'asks:' + stringify(asks) : 'threw:Error: the block waits for something that never comes';
      if (asks.length > 0 && outcome.startsWith('given:'))
        return 'threw:Error: run ended before what it asked for was answered; await each call and each of documents';
      if (outcome.length > limit + 6) return 'threw:Error: the result has ' + outcome.length + ' characters of JSON; at most ' + limit + ' are allowed';
      return outcome;
    },
  };
})`.replaceAll('\n', ' ')

/** What extensions import. */
const OWN_MODULES: Readonly<Record<string, string>> = {
  'quoin/extension': 'export const defineFlow = (block) => block',
}

function moduleOutcome(
  runtime: QuickJSRuntime,
  context: QuickJSContext,
  host: QuickJSHandle,
  call: ModuleCall,
): CodeOutcome {
  runtime.setModuleLoader((path) => sourceOf(call, path), pathOf)
  const { now, seed } = call
  return Scope.withScope((scope) => {
    const begin = scope.manage(context.getProp(host, 'begin'))
    const clock = scope.manage(context.newString(JSON.stringify({ now, seed })))
    context.unwrapResult(context.callFunction(begin, context.undefined, clock)).dispose()
    const loaded = context.evalCode(`export { default } from ${JSON.stringify(call.entry)}`, 'extension', {
      type: 'module',
    })
    if (loaded.error) return failureOf(context, scope.manage(loaded.error))
    const block = scope.manage(context.getProp(scope.manage(loaded.value), 'default'))
    const words = call.input === '' ? [block] : [block, scope.manage(context.newString(call.input))]
    const step = scope.manage(context.getProp(host, call.input === '' ? 'describe' : 'run'))
    const begun = context.callFunction(step, context.undefined, ...words)
    if (begun.error) return failureOf(context, scope.manage(begun.error))
    begun.value.dispose()
    const jobs = runtime.executePendingJobs()
    if (jobs.error) return failureOf(context, scope.manage(jobs.error))
    const end = scope.manage(context.getProp(host, 'outcome'))
    const ended = context.callFunction(end, context.undefined)
    if (ended.error) return failureOf(context, scope.manage(ended.error))
    return outcomeIn(textOf(context, scope.manage(ended.value)))
  })
}

function sourceOf({ modules }: ModuleCall, path: string): string | { readonly error: Error } {
  if (Object.hasOwn(OWN_MODULES, path)) return OWN_MODULES[path] ?? ''
  if (Object.hasOwn(modules, path)) return modules[path] ?? ''
  return { error: new Error(`there is no module ${path.slice(0, 200)} in the extension`) }
}

/** Relative ones below the folder of the extension; nothing above it has a path. */
function pathOf(from: string, requested: string): string {
  if (!requested.startsWith('./') && !requested.startsWith('../')) return requested
  return new URL(requested, `extension:/${from}`).pathname.slice(1)
}

function failureOf(context: QuickJSContext, error: QuickJSHandle): CodeOutcome {
  const message = context.getProp(error, 'message').consume((one) => textOf(context, one))
  return { kind: 'ended', text: message }
}

function outcomeIn(text: string): CodeOutcome {
  const [kind] = (['given', 'threw', 'asks'] as const).filter((one) => text.startsWith(`${one}:`))
  return kind ? { kind, text: text.slice(kind.length + 1) } : { kind: 'ended', text: 'failed' }
}

/** Code can make a message of any length. */
function textOf(context: QuickJSContext, handle: Parameters<QuickJSContext['getString']>[0]): string {
  const length = context.getProp(handle, 'length').consume((one) => context.getNumber(one))
  return length <= MOST_TEXT + LONGEST_MESSAGE
    ? context.getString(handle)
    : 'threw:Error: the message is too long'
}

const first: CodeCall = { code: 'return 1', parameters: [], input: '[]', dates: [], empty: [], timeout: 1000 }
let sandbox = newSandbox('code')

function answer(call: ThreadCall): CodeOutcome {
  const isFor = 'modules' in call ? 'modules' : 'code'
  if (sandbox.isFor !== isFor) {
    cleared(sandbox)
    sandbox = newSandbox(isFor)
  }
  return outcomeOf(sandbox, call)
}

/** Whether another call may come. */
function makeReady(): boolean {
  if (!cleared(sandbox)) return false
  sandbox = newSandbox(sandbox.isFor)
  return true
}

parentPort?.on('message', (call: ThreadCall) => {
  const say = (message: ThreadMessage) => parentPort?.postMessage(message)
  try {
    say(answer(call))
    say(makeReady() ? 'ready' : 'over')
  } catch (error) {
    // The WebAssembly module cannot be used again after a fault of its own, such as a stack that is too deep.
    say({ kind: 'ended', text: error instanceof Error ? error.message : 'failed' })
    say('over')
  }
})
// The first call takes 100 times as long as the others.
answer(first)
if (makeReady()) parentPort?.postMessage('ready')
