/** Does `task` for 0, 1, 2 … below `count`, so many at once. */
export async function manyAtOnce(count: number, atOnce: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await task(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
