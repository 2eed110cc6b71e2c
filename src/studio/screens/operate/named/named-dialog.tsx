import { Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { NamedRecord, NamedRecords } from '../../../api/named-records.ts'
import { FormDialog, ReadForm } from '../../../controls/form-dialog.tsx'
import { Time } from '../../../controls/time.tsx'
import { namedTexts } from '../../../texts/settings.ts'
import type { NamedDialogProps } from './named-screen.tsx'

interface LoadedProps<R extends NamedRecord> extends NamedDialogProps {
  readonly records: NamedRecords<R>
  readonly form: (record: R | undefined) => ReactNode
}

/** The form of a new record, or of one that is read first. */
export function NamedDialog<R extends NamedRecord>({ guid, onClose, records, form }: LoadedProps<R>) {
  return (
    <ReadForm guid={guid} queryKey={[records.key, 'one']} load={records.read} onClose={onClose}>
      {form}
    </ReadForm>
  )
}

interface NamedDraft {
  readonly name: string
  readonly description: string
}

interface NamedFormProps {
  readonly record: NamedRecord | undefined
  /** Of a new one. */
  readonly title: string
  /** Below the field for the name. */
  readonly nameHelp: string
  readonly draft: NamedDraft
  readonly onDraft: (name: 'name' | 'description', value: string) => void
  readonly submit: () => Promise<unknown>
  readonly onClose: () => void
  /** The other fields. */
  readonly children: ReactNode
}

export function NamedForm({
  record,
  title,
  nameHelp,
  draft,
  onDraft,
  submit,
  onClose,
  children,
}: NamedFormProps) {
  // Where the name is there already, one begins to type in the field below it.
  const [isUnnamed] = useState(draft.name === '')
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={record ? record.name : title}
      action={record ? namedTexts.save : namedTexts.create}
      submit={submit}
    >
      {record ? (
        <Text size="sm" c="dimmed">
          {namedTexts.changed} <Time at={record._meta.updated} /> {namedTexts.by(record.modified_by.username)}
        </Text>
      ) : (
        <TextInput
          label={namedTexts.name}
          description={nameHelp}
          required
          data-autofocus={isUnnamed || undefined}
          value={draft.name}
          onChange={(event) => onDraft('name', event.currentTarget.value)}
        />
      )}
      {children}
      <Textarea
        label={namedTexts.description}
        autosize
        value={draft.description}
        onChange={(event) => onDraft('description', event.currentTarget.value)}
      />
    </FormDialog>
  )
}
