import { Alert, Button, Checkbox, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useStore } from 'zustand'
import type { SignedIn } from '../../../shared/api/people/auth.ts'
import { infoQuery } from '../../api/info.ts'
import { shareWithPages } from '../../api/page-session.ts'
import { queryClient } from '../../api/query-client.ts'
import { call } from '../../api/request.ts'
import { session, signedIn } from '../../api/session.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { useTabTitle } from '../../controls/use-tab-title.ts'
import mark from '../../quoin.svg'
import { startTexts } from '../../texts/start.ts'
import classes from './sign-in-screen.module.css'

/** In place of whatever was asked for; afterwards that is shown. */
export function SignInScreen() {
  useTabTitle(startTexts.signIn)
  const { data: info } = useQuery(infoQuery)
  const wasRefused = useStore(session, ({ expired }) => expired)
  const [username, setUsername] = useState('')
  const [password, setPassword] = useState('')
  const [stay, setStay] = useState(false)
  const signIn = useMutation({
    mutationFn: () => call<SignedIn>('POST', '/auth/signin', { body: { username, password } }),
    onSuccess: ({ access_token }) => {
      // Data that another user saw in this tab must not be shown.
      queryClient.clear()
      signedIn(access_token, stay)
      void shareWithPages(true)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    signIn.mutate()
  }
  return (
    <main className={classes.ground}>
      <form className={`surface ${classes.card}`} onSubmit={submit}>
        <Stack gap="md">
          <div className={classes.brand}>
            <img src={mark} alt="" width={36} height={36} />
            <div>
              <Title order={1} size="h3">
                {startTexts.signInToQuoin}
              </Title>
              <Text size="sm" c="dimmed" className={classes.node}>
                {info ? `${info.node} · ${info.environment}` : ' '}
              </Text>
            </div>
          </div>
          {wasRefused && !signIn.error ? (
            <Alert color="sand" p="xs">
              {startTexts.sessionExpired}
            </Alert>
          ) : null}
          {signIn.error ? <ErrorNotice error={signIn.error} title={startTexts.youNotSigned} /> : null}
          <TextInput
            label={startTexts.userNameEMail}
            name="username"
            autoComplete="username"
            autoFocus
            required
            withAsterisk={false}
            value={username}
            onChange={(event) => setUsername(event.currentTarget.value)}
          />
          <PasswordInput
            label={startTexts.password}
            name="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Checkbox
            label={startTexts.staySignedMachine}
            checked={stay}
            onChange={(event) => setStay(event.currentTarget.checked)}
          />
          <Button type="submit" loading={signIn.isPending}>
            {startTexts.signIn}
          </Button>
          <Text size="xs" c="dimmed">
            {startTexts.firstStart} <b>admin</b>
            {startTexts.firstStartPassword}
          </Text>
        </Stack>
      </form>
    </main>
  )
}
