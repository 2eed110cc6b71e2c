import { FileInput, Progress, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { BlueprintFile } from '../../../shared/application/blueprint-file.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { notifyAbout } from '../../controls/notify.ts'
import { sameFileAgain } from '../../controls/save-file.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'

const transfer = () => import('../../api/blueprint-transfer.ts')

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
    if (file === null) throw new Error(blueprintsTexts.chooseAFileFirst)
    const read = readFile(file.name, await file.text())
    const named = name.trim()
    try {
      const { importBlueprintFile } = await transfer()
      const { guid, left } = await importBlueprintFile(named === '' ? read : { ...read, name: named }, {
        onProgress: setShare,
        stays: (part) => notifyAbout(blueprintsTexts.notAllWasUndone, blueprintsTexts.leftOver(part)),
      })
      if (left.length > 0)
        notifyAbout(blueprintsTexts.somePartsWereThere, blueprintsTexts.partsLeft(left.join(', ')))
      go(`/blueprints/${guid}`)
    } finally {
      setShare(undefined)
    }
  }
  return (
    <FormDialog
      opened={opened}
      onClose={onClose}
      title={blueprintsTexts.importABlueprint}
      action={blueprintsTexts.import}
      submit={submit}
      fetchAhead={transfer}
    >
      <FileInput
        label={blueprintsTexts.blueprintFile}
        description={blueprintsTexts.blueprintFileHelp}
        placeholder={blueprintsTexts.chooseAFile}
        accept=".json,application/json"
        required
        fileInputProps={sameFileAgain}
        value={file}
        onChange={(chosen) => void choose(chosen)}
      />
      <NameField value={name} onChange={setName} />
      <Text size="sm" c="dimmed">
        {blueprintsTexts.importedText}
      </Text>
      {share === undefined ? null : <Progress value={share * 100} aria-label={blueprintsTexts.importing} />}
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
      label={blueprintsTexts.name}
      description={blueprintsTexts.nameHelp}
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
    throw new Error(blueprintsTexts.isNotJson(name))
  }
  throw new Error(blueprintsTexts.notBlueprintFile(name))
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
