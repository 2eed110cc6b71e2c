import type { BlockServices } from '../../blocks/block-services.ts'
import type { FunctionSignature, LaterCall, StoredWait, Wait } from '../../blocks/context.ts'
import type { RunRequest } from '../../blocks/run-request.ts'
import { mailJob } from '../../records/mail/mail-job.ts'
import { subjectOf } from '../../records/permissions/judge.ts'
import type { Clock } from '../../shared/clock.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import type { Mail } from '../../shared/mail/mail.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import {
  askedLanguages,
  type ChosenLanguage,
  chosenLanguage,
  translatedText,
} from '../../shared/texts/translations.ts'
import type { Session } from '../../storage/database.ts'
import type { JobRetries, NewJob } from '../../storage/job.ts'
import type { ManyChange } from '../../storage/many/many-change.ts'
import type {
  BlockEffect,
  CompiledFlow,
  Frame,
  ResumePoint,
  RunControl,
  RunFunctions,
  StoredVariables,
} from '../compile/frame.ts'
import type { LaterWork } from '../compile/later-work.ts'
import { sizeOfValue, TooLarge } from '../compile/value-size.ts'
import type { FormerRequest } from '../compile/waiting/stored-frame.ts'
import { laterJob, manyChangeJob, originPayload } from './job-payload.ts'
import type { ResumedRun } from './resumed-run.ts'
import type { RunEnvironment } from './run-environment.ts'
import type { HappenedEffect, RunStart } from './run-start.ts'
import type { RunSteps } from './run-steps.ts'
import { unitServices } from './run-units.ts'
import { storeWait, waitingRun } from './store-wait.ts'

/** Jobs that a run stores, on behalf of the user that it runs for. Most runs store none, and have none of these. */
class RunJobs implements LaterWork {
  readonly #session: Session
  readonly #blueprint: string
  readonly #clock: Clock

  constructor(session: Session, blueprint: string, clock: Clock) {
    this.#session = session
    this.#blueprint = blueprint
    this.#clock = clock
  }

  call(call: LaterCall): MaybePromise<string | undefined> {
    return this.#store(laterJob(call, this.#blueprint, this.#session.origin, this.#clock()))
  }

  change(change: ManyChange): MaybePromise<string | undefined> {
    return this.#store(manyChangeJob(change, this.#session.origin, this.#blueprint))
  }

  mail(mail: Mail, retries?: JobRetries): MaybePromise<string | undefined> {
    const about = { blueprint: this.#blueprint, ...originPayload(this.#session.origin) }
    return this.#store(mailJob(mail, about, retries))
  }

  #store(job: NewJob): MaybePromise<string | undefined> {
    return this.#session.enqueue({ ...job, requested: true })
  }
}

/**
 * What a run gives its blocks when they ask for it: most runs use little of it. So it has no constructor and its fields are only
 * declared: what a run does not use costs it nothing.
 */
export abstract class RunServices {
  abstract readonly guid: string
  abstract readonly session: Session
  abstract readonly environment: RunEnvironment
  abstract readonly blueprint: string
  abstract readonly request: RunRequest | undefined
  protected abstract readonly start: RunStart
  /** Of a run that has waited. */
  protected abstract readonly resumed: ResumedRun | undefined
  declare private servicesOnce: BlockServices | undefined
  declare private userSessionOnce: Session | undefined
  declare private variablesOnce: StoredVariables | undefined
  declare private envOnce: JsonObject | undefined
  declare private laterOnce: LaterWork | undefined
  declare protected effectsOnce: RunEffects | undefined

  get services(): BlockServices {
    this.servicesOnce ??= unitServices(this.environment.services, this.start.unit)
    return this.servicesOnce
  }

  /** Of a request, or of the request that a run began with before it waited. Other jobs are anonymous. */
  get userSession(): Session {
    const { session, request, environment } = this
    const caller = request ?? this.start.caller?.()
    this.userSessionOnce ??= environment.permissions.session(session, subjectOf(caller?.user, caller?.scopes))
    return this.userSessionOnce
  }

  get variables(): StoredVariables {
    this.variablesOnce ??= runVariables(this.resumed?.saved.variables)
    return this.variablesOnce
  }

  get former(): FormerRequest | undefined {
    return this.resumed?.saved.request
  }

  /** Later changes are for later runs. */
  get env(): JsonObject {
    this.envOnce ??= this.environment.values.env()
    return this.envOnce
  }

  get later(): LaterWork {
    this.laterOnce ??= new RunJobs(this.session, this.blueprint, this.environment.clock)
    return this.laterOnce
  }

  signature(name: string): FunctionSignature | undefined {
    return this.environment.findFunction(name, this.blueprint)
  }

  /** Calls a custom function by name. Fails, naming it, when no active blueprint has it. */
  callFunction(
    name: string,
    parameters: Readonly<Record<string, JsonValue | undefined>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined> {
    const found = this.environment.findFunction(name, this.blueprint)
    if (!found)
      throw new Error(`There is no custom function named ${JSON.stringify(name)} in an active blueprint.`)
    return this.call(found.flow, found.start(parameters), depth)
  }

  protected abstract call(
    flow: CompiledFlow,
    input: Readonly<Record<string, unknown>>,
    depth: number,
  ): MaybePromise<JsonValue | undefined>

  happens(effect: BlockEffect): void {
    this.effectsOnce ??= new RunEffects()
    this.effectsOnce.begin(effect)
  }

  wait(point: ResumePoint, frame: Frame, wait: Wait): MaybePromise<StoredWait> {
    return storeWait(waitingRun(this, this.start.flow, this.resumed?.record), point, frame, wait)
  }

  reached(point: ResumePoint, frame: Frame): MaybePromise<void> {
    return frame.depth === 0 ? this.resumed?.reached(point, frame) : undefined
  }
}

/** Blocks of one run: those of the largest blueprints have some hundred that change something. */
const MOST_EFFECTS = 1_000

/** How often each block of a run has done what stays. */
class RunEffects {
  readonly #done = new Map<BlockEffect, number>()
  /** With the next commit. */
  readonly #held = new Map<BlockEffect, number>()

  begin(effect: BlockEffect): void {
    const { kind } = effect
    const counts = kind === 'call' || kind === 'file' || kind === 'user' ? this.#done : this.#held
    if (counts.size < MOST_EFFECTS || counts.has(effect)) counts.set(effect, (counts.get(effect) ?? 0) + 1)
  }

  committed(): void {
    for (const [effect, count] of this.#held) this.#done.set(effect, (this.#done.get(effect) ?? 0) + count)
    this.#held.clear()
  }

  get done(): readonly HappenedEffect[] {
    return Array.from(this.#done, ([effect, count]) => ({ ...effect, count }))
  }
}

/** What functions in expressions see of one run. */
export function runFunctions(
  { clock, values, texts }: RunEnvironment,
  run: Pick<RunControl, 'blueprint' | 'request' | 'user'> & { readonly steps: RunSteps },
): RunFunctions {
  let now = clock()
  let visitors: ChosenLanguage | undefined
  return {
    timeZone: values.timeZone,
    locale: values.locale,
    now: () => now,
    startEvaluation() {
      now = clock()
    },
    random(bytes) {
      const drawn = new Uint8Array(bytes)
      values.random(drawn)
      return drawn
    },
    spend: (elements, work) => run.steps.spend(elements, work),
    translate(key, values, language) {
      const translations = texts?.(run.blueprint)
      if (!translations) return undefined
      if (language !== undefined)
        return translatedText(translations, chosenLanguage(translations, language), key, values)
      visitors ??= chosenLanguage(
        translations,
        askedLanguages(run.user, String(run.request?.headers['accept-language'] ?? '')),
      )
      return translatedText(translations, visitors, key, values)
    },
  }
}

/** Of all variables of one run. A flow over any number of documents would otherwise keep all of them in memory. */
const MOST_VALUES = 1_000_000
const MOST_CHARACTERS = 16 * 1024 * 1024
/** Items of one list, as many as `each` and the functions of expressions take. */
const MOST_ITEMS = 10_000

interface Size {
  readonly values: number
  readonly characters: number
}

interface StoredVariable {
  value: JsonValue
  size: Size
  /** The list was made here and read by no block, so that it may grow in place. */
  own: JsonValue[] | undefined
}

const nothing: Size = { values: 0, characters: 0 }

/** Values by name that last as long as a run. `stored`: of a run that has waited. */
export function runVariables(stored: JsonObject = {}): StoredVariables {
  const byName = new Map<string, StoredVariable>()
  let total = nothing

  /** What is wrong with so much in place of `before`; undefined: it is noted. */
  function allowed(before: Size, after: Size): string | undefined {
    const values = total.values - before.values + after.values
    const characters = total.characters - before.characters + after.characters
    if (values > MOST_VALUES)
      return `makes the variables of the run hold more than ${count(MOST_VALUES)} values`
    if (characters > MOST_CHARACTERS)
      return `makes the variables of the run hold more than ${count(MOST_CHARACTERS)} characters`
    total = { values, characters }
    return undefined
  }

  const variables: StoredVariables = {
    get size() {
      return byName.size
    },
    all: () => Object.fromEntries([...byName].map(([name, { value }]) => [name, value])),
    get(name) {
      const variable = byName.get(name)
      // The list now belongs to the block that reads it too, and values of a run never change.
      if (variable) variable.own = undefined
      return variable?.value
    },

    set(name, value) {
      const before = byName.get(name)?.size ?? nothing
      const size = value === undefined ? nothing : measured(value)
      const problem = typeof size === 'string' ? size : allowed(before, size)
      if (problem !== undefined || typeof size === 'string') return problem
      if (value === undefined) byName.delete(name)
      else byName.set(name, { value, size, own: undefined })
      return undefined
    },

    append(name, item) {
      const variable = byName.get(name)
      if (variable && !Array.isArray(variable.value)) return 'cannot be appended: the variable holds no list'
      const list = variable?.own ?? (Array.isArray(variable?.value) ? [...variable.value] : [])
      if (list.length >= MOST_ITEMS) return `makes the list longer than ${count(MOST_ITEMS)} items`
      const more = measured(item)
      if (typeof more === 'string') return more
      const before = variable?.size ?? nothing
      const size = {
        values: before.values + more.values,
        characters: before.characters + more.characters,
      }
      const problem = allowed(before, size)
      if (problem !== undefined) return problem
      list.push(item)
      byName.set(name, { value: list, size, own: list })
      return undefined
    },
  }
  for (const [name, value] of Object.entries(stored)) variables.set(name, value)
  return variables
}

function measured(value: JsonValue): Size | string {
  try {
    return sizeOfValue(value)
  } catch (error) {
    if (error instanceof TooLarge) return error.message
    throw error
  }
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}
