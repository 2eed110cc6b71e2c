import type { FieldRule } from '../../shared/field-rule.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { everyNode, type PageForm, type PageNode } from '../../shared/pages/page-content.ts'
import type { PageInput } from '../../shared/pages/page-input.ts'

/** `rules.of` of the storage's rules. */
export type RulesOf = (storage: string) => MaybePromise<readonly FieldRule[]>

/** The blueprint field that rules an input; undefined if none does. */
export type FieldOf = (form: PageForm, input: PageInput) => FieldRule | undefined

/** Reads the rules of all storages that the forms among these nodes name. */
export async function fieldsOf(nodes: readonly PageNode[], rulesOf: RulesOf): Promise<FieldOf> {
  const storages = new Set<string>()
  for (const node of everyNode(nodes)) {
    if ((node.kind === 'form' || node.kind === 'input') && node.storage !== undefined)
      storages.add(node.storage)
  }
  const rules = new Map<string, ReadonlyMap<string, FieldRule>>()
  for (const storage of storages) {
    const known = await rulesOf(storage)
    rules.set(storage, new Map(known.map((rule) => [rule.name, rule])))
  }
  return (form, input) => {
    const storage = input.storage ?? form.storage
    return storage === undefined ? undefined : rules.get(storage)?.get(input.name)
  }
}

/** The inputs of a form, also those inside other nodes of it. */
export function inputsOf(form: PageForm): readonly PageInput[] {
  return [...everyNode(form.content)].filter((node) => node.kind === 'input')
}
