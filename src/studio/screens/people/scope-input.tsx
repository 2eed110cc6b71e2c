import { Alert, Stack, TagsInput, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { equalsAdministrator, managementScopes, meaningOfScope } from '../../../shared/management-scopes.ts'
import { groupsQuery } from '../../api/account.ts'
import { scopeLabels } from '../../controls/scope-labels.ts'
import { peopleTexts } from '../../texts/people.ts'
import { rightsTexts } from '../../texts/properties.ts'
import { meaningOf } from './known-scopes.ts'

interface ScopeInputProps {
  readonly label: string
  readonly description?: string
  readonly value: readonly string[]
  readonly error: string | undefined
  readonly onChange: (scopes: string[]) => void
}

/** Names of scopes: those that are known are offered with what they allow, any other can be typed. Warns of powerful ones. */
export function ScopeInput({ label, description, value, error, onChange }: ScopeInputProps) {
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  const [isOpen, setIsOpen] = useState(false)
  const used = groups.flatMap((group) => group.scopes)
  const powerful = value.filter(equalsAdministrator)
  const underrated = value.filter((scope) => !equalsAdministrator(scope) && meaningOfScope(scope))
  return (
    <Stack gap="xs">
      <TagsInput
        label={label}
        description={description}
        data={[...new Set(['*', ...used, ...managementScopes])]}
        maxDropdownHeight={240}
        // The list covers the button below it: it closes when a scope was taken, and opens with the next letter.
        dropdownOpened={isOpen}
        onDropdownOpen={() => setIsOpen(true)}
        onDropdownClose={() => setIsOpen(false)}
        acceptValueOnBlur
        clearable
        value={[...value]}
        error={error}
        renderOption={({ option }) => (
          <Stack gap={0}>
            <Text size="sm">{option.value}</Text>
            <Text size="xs" c="dimmed">
              {meaningOf(option.value)}
            </Text>
          </Stack>
        )}
        onChange={(scopes) => {
          setIsOpen(false)
          onChange(scopes)
        }}
      />
      <Meanings title={peopleTexts.equalsAdministratorRights} scopes={powerful} />
      <Meanings title={peopleTexts.moreThanTheName} scopes={underrated} />
    </Stack>
  )
}

function Meanings({ title, scopes }: { readonly title: string; readonly scopes: readonly string[] }) {
  if (scopes.length === 0) return null
  return (
    <Alert color="sand" title={title}>
      {scopes.map((scope) => (
        <Text key={scope} size="sm">
          {scope}: {meaningOf(scope)}
        </Text>
      ))}
    </Alert>
  )
}

interface ChangedRightsProps {
  /** Whose rights change; begins the sentences. */
  readonly who: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** What else is to be known. */
  readonly note?: string
}

/** What saving gives and takes away, in words. */
export function ChangedRights({ who, added, removed, note }: ChangedRightsProps) {
  if (added.length + removed.length === 0) return null
  const inWords = (scopes: readonly string[]) => scopes.map(scopeLabels).join(', ')
  return (
    <Alert
      color={added.some(equalsAdministrator) ? 'sand' : 'petrol'}
      title={rightsTexts.whatChanges}
      style={{ overflowWrap: 'anywhere' }}
    >
      {added.length === 0 ? null : <Text size="sm">{rightsTexts.rightsAdded(who, inWords(added))}</Text>}
      {removed.length === 0 ? null : (
        <Text size="sm">{rightsTexts.rightsRemoved(who, inWords(removed))}</Text>
      )}
      {note === undefined ? null : <Text size="sm">{note}</Text>}
    </Alert>
  )
}
