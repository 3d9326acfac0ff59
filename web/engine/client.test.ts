import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngineClient, ReplacedError, StuckError } from './client.ts';
import type { JobReply, JobRequest } from './protocol.ts';

class FakeWorker {
  readonly messages: JobRequest[] = [];
  terminated = false;
  onmessage: ((event: MessageEvent<JobReply>) => void) | null = null;
  onerror: ((event: ErrorEvent) => void) | null = null;
  postMessage(message: JobRequest): void {
    this.messages.push(message);
  }
  terminate(): void {
    this.terminated = true;
  }
  reply(output: unknown): void {
    const id = this.messages.at(-1)?.id ?? 0;
    this.onmessage?.({ data: { id, output } } as MessageEvent<JobReply>);
  }
}

describe('the client of the worker', () => {
  let workers: FakeWorker[];
  const client = () =>
    createEngineClient(() => {
      const worker = new FakeWorker();
      workers.push(worker);
      queueMicrotask(() => worker.onmessage?.({ data: { ready: true } } as MessageEvent<JobReply>));
      return worker;
    }, 1_000);
  const step = (count: number) => ({ object: 0, count });

  beforeEach(() => {
    workers = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('runs one job at a time and skips jobs that a newer one replaces', async () => {
    const { run } = client();
    const first = run('step', step(1));
    const second = run('step', step(2));
    const third = run('step', step(3));
    await expect(second).rejects.toThrow(ReplacedError);
    expect(workers[0]?.messages.map(({ input }) => input)).toEqual([step(1)]);
    workers[0]?.reply(['one']);
    workers[0]?.reply(['three']);
    expect(await first).toEqual(['one']);
    expect(await third).toEqual(['three']);
  });

  it('ends a worker that does not answer, and starts another one for the next job', async () => {
    const { run } = client();
    const stuck = run('step', step(1));
    const next = run('step', step(2));
    const failed = expect(stuck).rejects.toThrow(StuckError);
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
    expect(workers[0]?.terminated).toBe(true);
    workers[1]?.reply(['two']);
    expect(await next).toEqual(['two']);
  });

  it('rejects with the error of the worker', async () => {
    const { run } = client();
    const job = run('step', step(1));
    workers[0]?.onmessage?.({ data: { id: 1, error: 'broken' } } as MessageEvent<JobReply>);
    await expect(job).rejects.toThrow('broken');
  });
});
