import { Input, MultiSelect, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import type { Group } from '../../../../shared/api/people/users.ts'
import { forgetPeople, groupsQuery } from '../../../api/account.ts'
import { saveChanges } from '../../../api/save-changes.ts'
import { blueprintsTexts } from '../../../texts/blueprints.ts'
import {
  type Access,
  accessProblem,
  grantsFor,
  scopeNames,
  type Who,
  withReaderGroups,
  withReaders,
} from './application-access.ts'

export const noGroups: readonly Group[] = []

interface WhoMayProps {
  readonly storage: string
  readonly access: Access
  readonly onChange: (access: Access) => void
  /** Whether documents of everyone may be asked for: of an API, and not of pages. */
  readonly everyoneWrites?: boolean
  /** Names the dialog that changes it later; that dialog does not name itself. */
  readonly later?: boolean
}

/** Who may read and who may write: everyone, signed-in users, or groups. */
export function WhoMay({ storage, access, onChange, everyoneWrites = false, later = false }: WhoMayProps) {
  const { read, write } = scopeNames(storage)
  const isNarrow = access.readers === 'groups'
  const asks = [access.readers === 'groups' && read, access.writers === 'groups' && write].filter(
    (scope) => scope !== false,
  )
  return (
    <>
      <OneWho
        label={blueprintsTexts.whoReads}
        who={access.readers}
        offered={['groups', 'loggedin', 'public']}
        groups={access.readerGroups}
        onWho={(readers) => onChange(withReaders(access, readers))}
        onGroups={(groups) => onChange(withReaderGroups(access, groups))}
        required={access.writerGroups.length === 0}
      />
      <OneWho
        label={blueprintsTexts.whoWrites}
        who={access.writers}
        offered={
          isNarrow ? ['groups'] : ['groups', 'loggedin', ...(everyoneWrites ? (['public'] as const) : [])]
        }
        groups={access.writerGroups}
        onWho={(writers) => onChange({ ...access, writers })}
        onGroups={(writerGroups) => onChange({ ...access, writerGroups })}
        required
      />
      <Text size="xs" c="dimmed">
        {asks.length === 0 ? '' : blueprintsTexts.whoScopes(asks)} {later ? blueprintsTexts.whoLater : ''}
      </Text>
    </>
  )
}

const labels: Readonly<Record<Who, string>> = {
  groups: blueprintsTexts.theseGroups,
  loggedin: blueprintsTexts.signedInUsers,
  public: blueprintsTexts.everyone,
}

interface OneWhoProps {
  readonly label: string
  readonly who: Who
  readonly offered: readonly Who[]
  readonly groups: readonly string[]
  readonly required: boolean
  readonly onWho: (who: Who) => void
  readonly onGroups: (groups: readonly string[]) => void
}

function OneWho({ label, who, offered, groups: chosen, required, onWho, onGroups }: OneWhoProps) {
  const id = useId()
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  return (
    <Stack gap={6}>
      <Input.Label labelElement="div" id={id}>
        {label}
      </Input.Label>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-labelledby={id}
        value={who}
        onChange={onWho}
        data={offered.map((value) => ({ value, label: labels[value] }))}
      />
      {who === 'groups' ? (
        <MultiSelect
          aria-label={blueprintsTexts.groupsOf(label)}
          placeholder={chosen.length === 0 ? blueprintsTexts.chooseGroups : ''}
          data={groups.map(({ _meta, name }) => ({ value: _meta.guid, label: name }))}
          nothingFoundMessage={blueprintsTexts.noGroups}
          searchable
          required={required}
          value={[...chosen]}
          onChange={onGroups}
        />
      ) : null}
    </Stack>
  )
}

/** Gives the scopes to the groups, before anything asks for them. Throws for access that is not complete. */
export async function grantAccess(storage: string, access: Access, groups: readonly Group[]): Promise<void> {
  const problem = accessProblem(access)
  if (problem !== undefined) throw new Error(blueprintsTexts.chooseAGroup)
  const held = groups.map(({ _meta, scopes }) => ({ guid: _meta.guid, scopes }))
  for (const { guid, scopes } of grantsFor(storage, access, held)) {
    const shown = { scopes: held.find((group) => group.guid === guid)?.scopes ?? [] }
    await saveChanges(`/_system/authentication-groups/${guid}`, { scopes }, shown)
  }
  await forgetPeople()
}
