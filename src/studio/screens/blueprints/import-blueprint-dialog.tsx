import { FileInput, Progress, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { BlueprintFile } from '../../../shared/application/blueprint-file.ts'
import { importBlueprintFile } from '../../api/blueprint-transfer.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { notifyAbout } from '../../controls/notify.ts'

interface ImportBlueprintProps {
  readonly opened: boolean
  readonly onClose: () => void
}

/** Makes a blueprint from a file, and opens it. It is not active: look at it first. */
export function ImportBlueprintDialog({ opened, onClose }: ImportBlueprintProps) {
  const [, go] = useLocation()
  const [file, setFile] = useState<File | null>(null)
  const [name, setName] = useState('')
  const [share, setShare] = useState<number>()
  const choose = async (chosen: File | null) => {
    setFile(chosen)
    // What cannot be read is said when it is imported.
    if (chosen) setName(nameIn(await chosen.text()))
  }
  const submit = async () => {
    if (file === null) throw new Error('Choose a file first.')
    const read = readFile(file.name, await file.text())
    const named = name.trim()
    try {
      const { guid, left } = await importBlueprintFile(named === '' ? read : { ...read, name: named }, {
        onProgress: setShare,
        stays: (part) =>
          notifyAbout('Not all was undone', `${part} was made and could not be removed again.`),
      })
      if (left.length > 0)
        notifyAbout(
          'Some parts were there',
          `They differ from the file and were left as they are: ${left.join(', ')}. The command quoin import --replace changes them.`,
        )
      go(`/blueprints/${guid}`)
    } finally {
      setShare(undefined)
    }
  }
  return (
    <FormDialog opened={opened} onClose={onClose} title="Import a blueprint" action="Import" submit={submit}>
      <FileInput
        label="Blueprint file"
        description="JSON from Export, or from quoin export on the command line."
        placeholder="Choose a file"
        accept=".json,application/json"
        required
        value={file}
        onChange={(chosen) => void choose(chosen)}
      />
      <NameField value={name} onChange={setName} />
      <Text size="sm" c="dimmed">
        It is saved but not active. Activate it to go live.
      </Text>
      {share === undefined ? null : <Progress value={share * 100} aria-label="Importing" />}
    </FormDialog>
  )
}

interface NameFieldProps {
  readonly value: string
  readonly onChange: (name: string) => void
}

function NameField({ value, onChange }: NameFieldProps) {
  const error = useFieldError()('name')
  return (
    <TextInput
      label="Name"
      description="Of the new blueprint. Empty: the name in the file."
      error={error}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function nameIn(text: string): string {
  try {
    const json: unknown = JSON.parse(text)
    return isBlueprintFile(json) ? json.name : ''
  } catch {
    return ''
  }
}

function readFile(name: string, text: string): BlueprintFile {
  try {
    const json: unknown = JSON.parse(text)
    if (isBlueprintFile(json)) return json
  } catch {
    throw new Error(`${name} is not JSON.`)
  }
  throw new Error(`${name} is not a blueprint file: it has no "name" and "blocks".`)
}

/** Enough to begin; the server checks each block. */
function isBlueprintFile(json: unknown): json is BlueprintFile {
  return (
    typeof json === 'object' &&
    json !== null &&
    'name' in json &&
    typeof json.name === 'string' &&
    'blocks' in json &&
    typeof json.blocks === 'object' &&
    json.blocks !== null
  )
}
