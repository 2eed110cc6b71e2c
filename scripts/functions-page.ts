import {
  declaredFunctions,
  functionGroups,
  methodGroups,
} from '../src/expressions/language/declared/functions.ts'
import type { FunctionDeclaration, Parameter } from '../src/expressions/language/function-declaration.ts'
import { whereFunctions } from '../src/expressions/language/where/where-condition.ts'
import { code, prose, table } from './markdown.ts'

const intro = `# Functions of expressions

<!-- Made by npm run docs from the definitions. Do not edit. -->

${declaredFunctions().size} functions, and methods of texts, lists and numbers with the names and meanings of JavaScript. \`?\` marks a
parameter that may be left out, \`…\` one that takes any number of arguments. With nothing as the first argument most functions
give nothing. A text has at most 1,000,000 characters, a list at most 10,000 elements; each element that a function looks at, or
1,000 characters, costs as much of a run's budget as one block, and [what takes longer](expressions.md#bounds) more. The tests run every example. [expressions.md](expressions.md) explains expressions,
with twenty tasks of a spreadsheet.

Dates: a day (\`2026-01-31\`) has no time zone. An instant is ISO 8601 text that ends in \`Z\`; functions take Unix seconds too.
Without \`zone\` and \`locale\` those of \`QUOIN_TIME_ZONE\` and \`QUOIN_LOCALE\` are used.
`

const where = `## Conditions on documents (where)

Searches, tables and "For each" take a condition on each document, \`doc\`, at their pin \`where\`:
\`doc.status == maybe(params.status) && doc.price >= 10 && search(doc.title, params.q)\`. Parts without \`doc\` are evaluated once
a run, the rest by the database, with indexes over the fields that are compared.

- A condition has \`&& || !\`, comparisons of a field (\`doc.owner.name\`, \`doc._meta.created\`) with a text, number, true, false,
  null or another field, \`contains(doc.tags, x)\`, \`contains(list, doc.status)\`, \`startsWith(doc.title, x)\`,
  \`isEmpty(doc.note)\` and the functions below. \`lower(doc.name)\` in \`contains\`, \`startsWith\`, \`==\` and \`!=\` leaves case out on
  both sides: \`contains(lower(doc.name), params.q)\` finds *Иван* by \`ив\` and *Straße* by \`STRASSE\`, on both engines. No index serves
  it: each document that the other conditions leave is read. Anything else about a document is refused when the blueprint is deployed:
  store it in a field of its own.
- It finds the documents for which the expression is true. Values of different types are unequal and have no order, which is no
  error here. \`==\` and \`<\` do not look into lists; \`contains\` does. Texts are compared by code point;
  lists are ordered as people sort ([Data](data.md#order-of-texts)).
- When a value that a field is compared with is nothing, the comparison finds no document, with \`!=\` and under \`!\` too. Only
  \`doc.status == null\` finds documents without a status.
- Two fields that are missing are equal; lists and objects are never equal to another field.
`

/** Every function and method of expressions, by group. */
export function functionsPage(): string {
  const sections = Object.entries(functionGroups).map(
    ([title, functions]) => `## ${title}\n\n${tableOf(functions, '')}`,
  )
  const methods = Object.entries(methodGroups).map(
    ([on, declared]) => `## Methods of a ${on}\n\n${tableOf(declared, `${on}.`)}`,
  )
  return [intro, ...sections, ...methods, where, whereTable()].join('\n')
}

function whereTable(): string {
  const rows = whereFunctions.map(({ name, parameters, help, example }) => [
    code(`${name}(${parameters.map(parameterText).join(', ')})`),
    prose(help),
    code(example),
  ])
  return table('', ['Signature', 'Meaning', 'Example'], rows)
}

function tableOf(functions: readonly FunctionDeclaration[], before: string): string {
  const rows = functions.map(({ name, parameters, help, example, result }) => [
    code(`${before}${name}(${parameters.map(parameterText).join(', ')})`),
    prose(help),
    code(example),
    result === undefined ? 'differs each time' : code(JSON.stringify(result)),
  ])
  return table('', ['Signature', 'Meaning', 'Example', 'Result'], rows)
}

function parameterText({ name, optional, rest }: Parameter): string {
  return `${rest ? '…' : ''}${name}${optional ? '?' : ''}`
}
