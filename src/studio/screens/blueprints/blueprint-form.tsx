import { TagsInput, Textarea, TextInput } from '@mantine/core'
import type { Blueprint } from '../../../shared/api/blueprints/blueprints.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import type { useDraft } from '../../controls/hooks.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'

export interface BlueprintDraft {
  readonly name: string
  readonly description: string
  readonly category: string
  readonly tags: readonly string[]
}

export const emptyBlueprint: BlueprintDraft = { name: '', description: '', category: '', tags: [] }

export function draftOf({ name, description, category, tags }: Blueprint): BlueprintDraft {
  return { name, description, category, tags }
}

type Draft = ReturnType<typeof useDraft<BlueprintDraft>>

export function BlueprintForm({ draft, set }: Pick<Draft, 'draft' | 'set'>) {
  const error = useFieldError()
  return (
    <>
      <TextInput
        label={blueprintsTexts.name}
        required
        maxLength={200}
        data-autofocus
        value={draft.name}
        error={error('name')}
        onChange={(event) => set('name', event.currentTarget.value)}
      />
      <Textarea
        label={blueprintsTexts.description}
        description={blueprintsTexts.descriptionHelp}
        autosize
        minRows={2}
        value={draft.description}
        error={error('description')}
        onChange={(event) => set('description', event.currentTarget.value)}
      />
      <TextInput
        label={blueprintsTexts.category}
        value={draft.category}
        error={error('category')}
        onChange={(event) => set('category', event.currentTarget.value)}
      />
      <TagsInput
        label={blueprintsTexts.tags}
        value={[...draft.tags]}
        error={error('tags')}
        onChange={(tags) => set('tags', tags)}
      />
    </>
  )
}
