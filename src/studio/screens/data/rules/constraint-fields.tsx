import { Button, Fieldset, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { useFieldError } from '../../../controls/field-errors.tsx'
import { dataTexts } from '../../../texts/data.ts'

/** One as it is typed; all of them bind every writer. */
export type ConstraintDraft = Readonly<Record<'rule' | 'message' | 'field', string>>

export function constraintDrafts({ constraints }: StorageRecord): readonly ConstraintDraft[] {
  return constraints.map(({ rule, message, field = '' }) => ({ rule, message, field }))
}

interface ConstraintFieldsProps {
  readonly constraints: readonly ConstraintDraft[]
  readonly onChange: (constraints: readonly ConstraintDraft[]) => void
}

export function ConstraintFields({ constraints, onChange }: ConstraintFieldsProps) {
  const error = useFieldError()
  const change = (at: number, to: Partial<ConstraintDraft>) =>
    onChange(constraints.map((one, index) => (index === at ? { ...one, ...to } : one)))
  return (
    <Stack gap="sm">
      <Title order={3} size="h5">
        {dataTexts.constraints}
      </Title>
      <Text size="sm" c="dimmed">
        {dataTexts.constraintsAbout}
      </Text>
      {constraints.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a constraint has no name, and its texts change while they are typed.
        <Fieldset key={at} legend={dataTexts.constraint(at + 1)}>
          <Stack gap="xs">
            <Textarea
              label={dataTexts.constraintRule}
              placeholder={dataTexts.constraintExample}
              autosize
              minRows={1}
              spellCheck={false}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
              value={one.rule}
              error={error(`constraints.${at}.rule`)}
              onChange={(event) => change(at, { rule: event.currentTarget.value })}
            />
            <TextInput
              label={dataTexts.constraintMessage}
              value={one.message}
              error={error(`constraints.${at}.message`)}
              onChange={(event) => change(at, { message: event.currentTarget.value })}
            />
            <TextInput
              label={dataTexts.constraintField}
              value={one.field}
              onChange={(event) => change(at, { field: event.currentTarget.value })}
            />
            <Group justify="flex-end">
              <Button
                size="xs"
                variant="default"
                onClick={() => onChange(constraints.filter((_one, index) => index !== at))}
              >
                {dataTexts.removeConstraint(at + 1)}
              </Button>
            </Group>
          </Stack>
        </Fieldset>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          onClick={() => onChange([...constraints, { rule: '', message: '', field: '' }])}
        >
          {dataTexts.addConstraint}
        </Button>
      </Group>
    </Stack>
  )
}
