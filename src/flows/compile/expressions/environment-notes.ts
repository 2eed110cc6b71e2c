import { didYouMean } from '../../../expressions/language/call-result.ts'
import { typeOfValue } from '../../../expressions/language/environment/environment-names.ts'
import { namesOf } from '../../../expressions/language/expression-names.ts'
import { anyType, type ObjectType } from '../../../expressions/language/value-types.ts'
import type { Steps } from '../../../shared/cooperative.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { nearestName } from '../../../shared/names/nearest-name.ts'
import type { Graph, PinExpression } from '../blueprint-graph.ts'
import { bounded, type DeployNote } from '../notes/deploy-note.ts'
import { expressionProblem } from './expression-problem.ts'
import { checkTypes, declarations } from './type-problems.ts'

/**
 * What the values of the environment that there are now say of a blueprint: names without a value, each once, and
 * expressions that do not fit the types of the values. Warnings only: values may be set and changed after the deploy.
 */
export function* environmentNotes(graph: Graph, env: JsonObject): Steps<readonly DeployNote[]> {
  const notes: DeployNote[] = []
  const readers = graph.expressions.flatMap(({ expression }) =>
    expression?.runNames.has('env') ? [expression] : [],
  )
  if (readers.length === 0) return notes
  const reported = new Set<string>()
  const declared = declarations()
  for (const expression of readers) {
    yield
    for (const { name, start } of missingIn(expression, env)) {
      if (reported.has(name)) continue
      reported.add(name)
      // Up to 1,000 names are compared with each.
      yield
      const advice = didYouMean(nearestName(name, Object.keys(env)))
      const message = `There is no value env.${name}. Set it under Environment.${advice}`
      notes.push({ ...warning(expression, message, start), once: name })
    }
    const usual = new Set(checkTypes(expression, declared).problems.map(({ message }) => message))
    const hinted = checkTypes(expression, declared, { env: typeOfEnvironment(expression, env) })
    for (const { rule: _rule, message, ...problem } of hinted.problems)
      if (!usual.has(message))
        notes.push({ ...problem, message: `With the present values of env: ${message}`, level: 'warn' })
  }
  return bounded(notes, 'values of the environment')
}

/** The names of values that an expression reads, as far as they are written out. */
function namesRead({ parsed }: PinExpression): { readonly name: string; readonly start: number }[] {
  return namesOf(parsed).flatMap(({ name, inBlocks, path: [key], start }) =>
    !inBlocks && name === 'env' && key !== undefined ? [{ name: key, start }] : [],
  )
}

function missingIn(expression: PinExpression, env: JsonObject) {
  return namesRead(expression).filter(({ name }) => !Object.hasOwn(env, name))
}

function typeOfEnvironment(expression: PinExpression, env: JsonObject): ObjectType {
  const fields = namesRead(expression).map(({ name }) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    return [name, value === undefined ? anyType : typeOfValue(value)] as const
  })
  return { kind: 'object', open: true, fields: Object.fromEntries(fields) }
}

function warning({ owner, pin }: PinExpression, text: string, start: number): DeployNote {
  const { rule: _rule, ...problem } = expressionProblem(owner, pin, text, start)
  return { ...problem, level: 'warn' }
}
