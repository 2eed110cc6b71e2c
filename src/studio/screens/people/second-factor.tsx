import {
  Badge,
  Button,
  Code,
  Group,
  Image,
  Modal,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BegunFactor } from '../../../shared/api/people/second-factors.ts'
import type { User } from '../../../shared/api/people/users.ts'
import {
  addApp,
  beginApp,
  removeSecondFactor,
  renewRecoveryCodes,
  secondFactorQuery,
} from '../../api/credentials.ts'
import { confirm } from '../../controls/confirm.ts'
import { useFieldError } from '../../controls/field-errors.tsx'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { Icon } from '../../controls/icon.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { ErrorNotice } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { qrPicture } from '../../sign-in/qr-picture.ts'
import { peopleTexts } from '../../texts/people.ts'

type Begun = BegunFactor & { readonly picture: string }

/** The authenticator app of the user who looks. */
export function OwnSecondFactor() {
  const { data, error } = useQuery(secondFactorQuery('me'))
  const [begun, setBegun] = useState<Begun>()
  const [codes, setCodes] = useState<readonly string[]>([])
  const attempt = (work: () => Promise<void>) => () =>
    void work().catch((failure) => notifyFailed(peopleTexts.factorFailed, failure))
  const begin = attempt(async () => {
    const made = await beginApp()
    setBegun({ ...made, picture: await qrPicture(made.uri) })
  })
  const renew = attempt(async () => setCodes(await renewRecoveryCodes()))
  return (
    <Stack gap="sm">
      <Title order={2}>{peopleTexts.secondFactor}</Title>
      <Text size="sm" c="dimmed">
        {peopleTexts.secondFactorAbout}
      </Text>
      {error ? <ErrorNotice error={error} title={peopleTexts.couldNotLoadFactor} /> : null}
      {data?.totp ? (
        <Group gap="xs">
          <Badge color="petrol">{peopleTexts.hasSecondFactor}</Badge>
          <Text size="sm">
            {peopleTexts.factorSince}
            <Time at={data.since} />
            {peopleTexts.factorLastUsed}
            <Time at={data.last_used} />
            {peopleTexts.recoveryCodesLeft(data.recovery_codes)}
          </Text>
        </Group>
      ) : (
        <Text size="sm">{peopleTexts.noSecondFactor}</Text>
      )}
      <Group gap="xs">
        <Button variant="default" leftSection={<Icon name="key" size={16} />} onClick={begin}>
          {data?.totp ? peopleTexts.replaceApp : peopleTexts.addApp}
        </Button>
        {data?.totp ? (
          <>
            <Button variant="default" onClick={renew}>
              {peopleTexts.newRecoveryCodes}
            </Button>
            <Button variant="default" onClick={askToRemove}>
              {peopleTexts.removeFactor}
            </Button>
          </>
        ) : null}
      </Group>
      {begun ? <AddApp begun={begun} onClose={() => setBegun(undefined)} onAdded={setCodes} /> : null}
      <RecoveryCodes codes={codes} onClose={() => setCodes([])} />
    </Stack>
  )
}

function askToRemove(): void {
  confirm({
    title: peopleTexts.removeFactorTitle,
    text: peopleTexts.removeFactorText,
    action: peopleTexts.removeFactor,
    run: () => removeSecondFactor('me'),
  })
}

interface AddAppProps {
  readonly begun: Begun
  readonly onClose: () => void
  readonly onAdded: (codes: readonly string[]) => void
}

function AddApp({ begun, onClose, onAdded }: AddAppProps) {
  const [code, setCode] = useState('')
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={peopleTexts.addApp}
      action={peopleTexts.addApp}
      submit={async () => onAdded(await addApp(begun.challenge, code))}
    >
      <Text size="sm">{peopleTexts.scanCode}</Text>
      <Image src={begun.picture} alt={peopleTexts.qrCode} w={200} h={200} mx="auto" radius="sm" />
      <Code
        block
        aria-label={peopleTexts.factorKey}
        style={{ overflowWrap: 'anywhere', whiteSpace: 'normal' }}
      >
        {begun.secret}
      </Code>
      <CodeInput value={code} onChange={setCode} />
    </FormDialog>
  )
}

function CodeInput({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (code: string) => void
}) {
  const error = useFieldError()
  return (
    <TextInput
      label={peopleTexts.code}
      required
      data-autofocus
      autoComplete="one-time-code"
      value={value}
      error={error('code')}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

interface RecoveryCodesProps {
  readonly codes: readonly string[]
  readonly onClose: () => void
}

/** Closes with its button only: a click beside it must not lose the codes. */
export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  return (
    <Modal
      opened={codes.length > 0}
      onClose={onClose}
      title={peopleTexts.recoveryCodes}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text size="sm">{peopleTexts.recoveryCodesHelp}</Text>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          {codes.map((code) => (
            <Code key={code}>{code}</Code>
          ))}
        </SimpleGrid>
        <Group justify="flex-end">
          <Button onClick={onClose}>{peopleTexts.storedThem}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** For a user who has lost the app and the recovery codes. Nothing for a user without a factor. */
export function ResetSecondFactor({ user: { _meta, username } }: { readonly user: User }) {
  const { data } = useQuery({ ...secondFactorQuery(_meta.guid), retry: false })
  if (!data?.totp) return null
  const ask = () =>
    confirm({
      title: peopleTexts.resetFactorTitle(username),
      text: peopleTexts.resetFactorText,
      action: peopleTexts.resetFactor,
      run: () => removeSecondFactor(_meta.guid),
    })
  return (
    <Button variant="default" leftSection={<Icon name="key" size={16} />} onClick={ask}>
      {peopleTexts.resetFactor}
    </Button>
  )
}
