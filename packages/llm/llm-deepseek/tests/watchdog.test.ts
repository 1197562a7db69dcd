import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { watch } from '../src/watchdog.ts'

test('what came while this process was busy itself is no silence of the server', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await once(server, 'connection')) as [Socket]
  await sleep(50)
  // Where timers come next.
  await new Promise(setImmediate)
  const dog = watch(undefined, 100, 60_000)
  client.on('data', dog.pulse)
  peer.write('x')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  await once(client, 'data')
  expect(dog.expired).toBeUndefined()
  await once(dog.signal, 'abort')
  expect(dog.expired).toBe(100)
  dog.stop()
  client.destroy()
  server.close()
})

test('a clock that was stopped says nothing more', async () => {
  const dog = watch(undefined, 20, 20)
  dog.stop()
  await sleep(60)
  expect(dog.signal.aborted).toBe(false)
})
